// Curves follow the chosen readings, in large charts and small ones, and the buttons at the agents' names.
const off = new Set();  // the agents whose curves the reader has switched off on the first screen

// The places of an agent's traces: a line, and before it the band around it if the chart has bands.
function tracesOf({data, agents}, place) {
  const each = data.length / agents.length;
  return Array.from({length: each}, (_, trace) => each * place + trace);
}

// The name and values of every curve of each agent, by the label of its reading.
for (const chart of Object.values(charts)) {
  if (!chart.agents) continue;
  chart.curves = {...chart.others};
  chart.agents.forEach((agent, place) => {
    const traces = tracesOf(chart, place).map(each => chart.data[each]);
    chart.curves[agent] = {name: traces[0].name, traces: traces.map(each => each.y)};
  });
}

// Of each agent whose curve must change: its place in the chart, whether it is compared, and its curve.
function changesIn(div, {agents, curves}) {
  const before = div.shownLabels ?? agents;
  div.shownLabels = agents.map(agent => isCompared(agent) ? labelOf(agent, curves) : null);
  const changed = agents.map((agent, place) => ({place, label: div.shownLabels[place], agent}));
  return changed.filter(({place, label}) => label !== before[place])
    .map(({place, label, agent}) => ({place, compared: label !== null, curve: curves[label ?? agent]}));
}

function followLarge(div) {
  if (!charts[div.id].agents) return;
  for (const {place, compared, curve} of changesIn(div, charts[div.id]))
    Plotly.restyle(div, {y: curve.traces, name: curve.name, legendgroup: curve.name, visible: compared},
      tracesOf(charts[div.id], place));
}

function followSmall(div) {
  const chart = charts[div.dataset.of];
  if (!chart.agents) return;
  for (const {place, curve} of changesIn(div, chart)) Plotly.restyle(div, {y: [curve.traces.at(-1)], name: curve.name}, [place]);
  Plotly.restyle(div, {visible: chart.agents.map(agent => isCompared(agent) && !off.has(agent))});
}

function followCurves() {
  document.querySelectorAll('.small-chart').forEach(followSmall);
  document.querySelectorAll('.chart').forEach(followLarge);
}
