// Draws the charts. Small ones show the lines of large ones, whose data they share.
const charts = JSON.parse(document.getElementById('charts').textContent);
const known = JSON.parse(document.getElementById('readings').textContent);
const narrow = window.innerWidth < 700;
const lineOf = new Map(known.agents.map(agent => [agent.label, agent.line]));

function drawSmall(div) {
  const {data, layout, agents} = charts[div.dataset.of];
  const lines = data.filter(trace => !trace.fill).map((trace, place) =>
    ({...trace, line: {width: 1.6, ...(agents ? lineOf.get(agents[place]) : trace.line)}}));
  const axis = {tickformat: ',', nticks: 4, fixedrange: true, zeroline: false, gridcolor: '#e4e4e0'};
  Plotly.newPlot(div, lines, {
    margin: {l: 44, r: 10, t: 4, b: 20}, showlegend: false, hovermode: 'closest', dragmode: false, separators: '.,',
    shapes: layout.shapes, font: {size: 10, color: '#666'}, hoverlabel: {namelength: -1},
    paper_bgcolor: 'white', plot_bgcolor: 'white',
    xaxis: {...axis, showgrid: false, hoverformat: ','}, yaxis: {...axis, nticks: 6, rangemode: 'tozero'},
  }, {displayModeBar: false});
  // The table below it takes more or less of the first screen when rows come and go.
  new ResizeObserver(() => Plotly.Plots.resize(div)).observe(div);
}

function drawLarge(div) {
  const {data, layout} = charts[div.id];
  if (narrow) {
    layout.margin = {l: 52, r: 8, t: 8, b: 40};
    layout.yaxis.title.text = '';
    const names = data.filter(trace => trace.showlegend !== false).length;  // which stand below each other
    if (layout.legend && !layout.height && names > 5) div.style.height = `${330 + 20 * names}px`;
  }
  Plotly.newPlot(div, data, layout, {responsive: true, displaylogo: false,
    modeBarButtons: [['zoom2d', 'pan2d', 'resetScale2d', 'toImage']], displayModeBar: narrow ? false : 'hover'});
}

document.querySelectorAll('.small-chart').forEach(drawSmall);
document.querySelectorAll('.chart').forEach(drawLarge);
for (const button of document.querySelectorAll('button[data-scale]')) {
  button.addEventListener('click', () => {
    Plotly.relayout(button.dataset.chart, {'yaxis.type': button.dataset.scale, 'yaxis.autorange': true});
    for (const each of button.parentElement.querySelectorAll('button'))
      each.setAttribute('aria-pressed', String(each === button));
  });
}
