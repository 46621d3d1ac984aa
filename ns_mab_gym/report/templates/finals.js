// The table of final regrets follows the chosen readings; its agents' names switch curves on and off.
const finals = document.getElementById('finals');
const agentOf = row => known.agents[row.dataset.agent].label;

// How the compared agents ended on a world, by their labels, with their places: 1 has the least mean.
function standingsIn(there) {
  const found = new Map();
  for (const {label} of known.agents) {
    if (!Object.hasOwn(there, label) || !isCompared(label)) continue;
    const own = labelOf(label, there), [mean, regret, parameters] = there[own];
    found.set(label, {mean, regret, parameters, changed: own !== label});
  }
  const means = [...found.values()].map(each => each.mean);
  for (const each of found.values()) each.place = 1 + means.filter(mean => mean < each.mean).length;
  return found;
}

function fill(cell, standing) {
  if (!standing) return;
  cell.className = [standing.place === 1 ? 'best' : '', standing.changed ? 'changed' : ''].join(' ').trim();
  cell.replaceChildren(element('span', 'place', String(standing.place)), element('span', 'regret', standing.regret),
    element('small', '', standing.parameters));
}

function followFinals() {
  const columns = known.worlds.map(standingsIn);
  for (const row of finals.tBodies[0].rows) {
    const agent = agentOf(row);
    row.hidden = !isCompared(agent);
    [...row.cells].slice(1, 1 + columns.length).forEach((cell, world) => fill(cell, columns[world].get(agent)));
    const places = columns.map(column => column.get(agent)?.place).filter(Boolean), rank = row.querySelector('.rank');
    if (rank && places.length) rank.textContent = (places.reduce((one, two) => one + two) / places.length).toFixed(1);
  }
}

for (const row of finals.tBodies[0].rows) {
  const button = row.querySelector('button'), agent = agentOf(row);
  button.addEventListener('click', () => {
    const shown = off.delete(agent);
    if (!shown) off.add(agent);
    button.setAttribute('aria-pressed', String(shown));
    document.querySelectorAll('.small-chart').forEach(followSmall);
  });
}
