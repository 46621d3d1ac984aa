"""The page's own style and script; nothing is loaded from elsewhere."""

from __future__ import annotations

__all__ = ["CSS", "JS", "POLICY"]

# Whatever a name may smuggle in, the browser loads nothing from outside of the page.
POLICY = "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

CSS = """
:root { color-scheme: light; --ink: #222; --muted: #666; --line: #ddd; --soft: #f6f6f3; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1180px; padding: 24px 28px 60px; color: var(--ink); background: #fff;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.55rem; line-height: 1.25; margin: 0 0 .4em; }
h2 { font-size: 1.25rem; margin: 2.4em 0 .4em; border-top: 1px solid var(--line); padding-top: 1em; }
h3 { font-size: 1rem; margin: 1.6em 0 .3em; }
p, li { max-width: 78ch; }
nav { display: flex; flex-wrap: wrap; gap: .2em 1.1em; }
a { color: #00568a; }
small, .muted { color: var(--muted); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .4em .7em .4em 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; border-bottom: 2px solid var(--ink); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td:first-child { min-width: 8.5em; }
code { font-size: .85rem; overflow-wrap: anywhere; }
q { font-style: italic; } .warning { background: #fadfce; padding: .6em .8em; }
.badge { display: inline-block; padding: .05em .6em; border-radius: 1em; font-weight: 600; white-space: nowrap; }
.holds { background: #d7efe5; color: #00523c; } .fails { background: #fadfce; color: #7d3000; }
.undecided { background: #e8e8e4; color: #444; }
table.glance { width: auto; } table.glance td, table.glance th { padding-right: 1.4em; vertical-align: middle; }
table.glance td { padding-top: .18em; padding-bottom: .18em; }
table.halves td { width: 60%; } table.halves td:first-child { width: 40%; padding-right: 2em; }
.found { margin-bottom: .7em; } .piece { white-space: nowrap; }
.chart { width: 100%; height: 460px; }
.buttons { margin: .2em 0 -.2em; }
button { font: inherit; font-size: .85rem; padding: .2em .9em; border: 1px solid #aaa;
  background: #fff; cursor: pointer; }
button[aria-pressed=true] { background: var(--ink); color: #fff; border-color: var(--ink); }
details { margin: .3em 0; } summary { cursor: pointer; color: var(--muted); }
details ul { margin: .3em 0; padding-left: 1.2em; }
img { max-width: 100%; height: auto; }
@media (max-width: 700px) {
  body { padding: 16px 14px 40px; }
  .chart { height: 430px; }
  table.cards thead { display: none; }
  table.cards tr { display: block; border-bottom: 2px solid var(--line); padding: .7em 0; }
  table.cards td, table.halves td:first-child { display: block; border: 0; padding: .15em 0; width: auto; }
  table.glance { width: 100%; font-size: .76rem; }
  table.glance td, table.glance th { padding-right: .35em; }
  .badge { padding: .05em .4em; } .piece { white-space: normal; }
}
"""

JS = """
const charts = JSON.parse(document.getElementById('charts').textContent);
const narrow = window.innerWidth < 700;
for (const div of document.querySelectorAll('.chart')) {
  const {data, layout} = charts[div.id];
  if (narrow) { layout.margin = {l: 52, r: 8, t: 8, b: 40}; layout.yaxis.title.text = ''; }
  Plotly.newPlot(div, data, layout, {responsive: true, displaylogo: false,
    modeBarButtons: [['zoom2d', 'pan2d', 'resetScale2d', 'toImage']], displayModeBar: narrow ? false : 'hover'});
}
for (const button of document.querySelectorAll('button[data-scale]')) {
  button.addEventListener('click', () => {
    Plotly.relayout(button.dataset.chart, {'yaxis.type': button.dataset.scale, 'yaxis.autorange': true});
    for (const each of button.parentElement.querySelectorAll('button'))
      each.setAttribute('aria-pressed', String(each === button));
  });
}
"""
