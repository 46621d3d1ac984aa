// Which readings the reader has chosen, and what follows from them.
let chosen = null;  // null for all readings, else the number of the reading of every switch

const readingOf = place => chosen === null ? 0 : chosen[place];

// The label under which an agent is found there: that of the chosen reading of its tuning, or its own.
function labelOf(agent, there) {
  let label = agent;
  known.switches.forEach(({labels}, place) => {
    if (readingOf(place) === 0 || !Object.hasOwn(labels, agent)) return;
    const other = labels[agent][readingOf(place)];
    if (Object.hasOwn(there, other)) label = other;
  });
  return label;
}

// Whether an agent is compared: everybody is where all readings count, and otherwise whom the chosen ones name. A switch
// about who is compared leaves those alone whom none of its readings names.
function isCompared(agent) {
  return chosen === null || known.switches.every((each, place) => !each.shown.length
    || each.shown[readingOf(place)].includes(agent) || !each.shown.flat().includes(agent));
}

// The finding of a judgement under the chosen readings.
function findingOf(judgement) {
  let place = 0;
  for (const each of judgement.choices) place = place * known.switches[each].readings.length + readingOf(each);
  const finding = judgement.findings[judgement.of.length ? judgement.of[place] : 0];
  return {...finding, mark: known.marks[finding.verdict]};
}

// An element with texts and elements in it; texts stay texts.
function element(name, css, ...content) {
  const made = document.createElement(name);
  if (css) made.className = css;
  made.append(...content);
  return made;
}
