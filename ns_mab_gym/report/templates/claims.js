// Verdicts, tests and figures follow the chosen readings. What all readings together give is in the page already.
function badge(mark, words) {
  const made = element('span', `badge ${mark.kind}`, words);
  made.title = mark.full;
  return made;
}

function measured(finding) {
  const pieces = `${finding.figures}.`.split(/(?<=[,;:.]) /);
  const found = pieces.flatMap(piece => [element('span', piece.length <= 40 ? 'piece' : 'long', piece), ' ']);
  if (finding.instead) found.push(element('br'), element('i', '', 'Instead:'), ` ${finding.instead}.`);
  if (finding.against.length) {
    const items = finding.against.map(each => element('li', '', each));
    found.push(element('details', '', element('summary', '', finding.comparisons),
      element('ul', '', ...items)));
  } else if (finding.comparisons) found.push(element('br'), element('small', '', finding.comparisons));
  return found;
}

function fillFound(one, [now, later]) {
  const finding = findingOf(now), place = one.parentElement.querySelectorAll('.all > b, .all > sup');  // world, †
  const where = [...place].map(each => each.cloneNode(true));
  one.replaceChildren(badge(finding.mark, finding.mark.short), ' ', ...where, element('br'), ...measured(finding));
  if (later === null) return;
  const then = findingOf(later);
  one.append(element('div', 'more', element('i', '', `By ${later.runs} runs:`), ' ', badge(then.mark, then.mark.short),
    ' ', ...measured(then)));
}

// Shows what all readings give, or what the chosen ones do.
function turn(place) {
  place.querySelector('.all').hidden = chosen !== null;
  place.querySelector('.one').hidden = chosen === null;
  return place.querySelector('.one');
}

function followMatrix() {
  for (const cell of document.querySelectorAll('#matrix td[data-judged]')) {
    const one = turn(cell);
    if (chosen === null) continue;
    const {mark} = findingOf(known.judged[cell.dataset.judged][cell.dataset.when]);
    const dagger = cell.querySelector('.all sup');
    one.replaceChildren(badge(mark, mark.short), ...(dagger ? [dagger.cloneNode(true)] : []));
  }
}

function followFound() {
  for (const found of document.querySelectorAll('.found[data-judged]')) {
    const one = turn(found);
    if (chosen !== null) fillFound(one, known.judged[found.dataset.judged]);
  }
}

function followTests() {
  for (const test of document.querySelectorAll('.test')) {
    const found = [...test.closest('tr').querySelectorAll('.found')];
    const words = found.map(each => findingOf(known.judged[each.dataset.judged][0]).test);
    test.textContent = `Test: ${[...new Set(words)].join('; or ')}.`;
  }
}

function followCounts() {
  for (const by of document.querySelectorAll('.counts .by')) {
    by.textContent = `by the ${chosen === null ? 'headline reading' : 'chosen readings'}`;
  }
  ['now', 'later'].forEach((when, place) => {
    const judged = known.judged.map(each => each[place]).filter(each => each !== null);
    // By the headline or the chosen readings; those that depend on the reading are among them, and are the last mark.
    const verdicts = judged.map(each => findingOf(each).verdict);
    if (chosen === null) verdicts.push(...judged.map(each => each.verdict).filter(each => each === known.marks.length - 1));
    for (const count of document.querySelectorAll(`[data-${when}]`)) {
      const mark = Number(count.dataset[when]), number = verdicts.filter(verdict => verdict === mark).length;
      count.textContent = number;
      count.nextElementSibling.textContent = known.marks[mark][number === 1 ? 'singular' : 'plural'];
    }
  });
}
