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
