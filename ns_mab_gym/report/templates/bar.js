// The bar of switches. As soon as a reading is chosen, every other switch shows the reading that counts: its first.
const bar = document.getElementById('bar');

function follow() {
  for (const each of [followCurves, followFinals, followMatrix, followFound, followTests, followCounts]) each();
}

if (bar) {
  const selects = [...bar.querySelectorAll('select')], panel = bar.querySelector('details');
  const byPlace = new Map(selects.map(select => [Number(select.dataset.switch), select]));

  const say = () => {
    const other = [...byPlace].sort(([one], [two]) => one - two).filter(([, select]) => Number(select.value) > 0)
      .map(([place, select]) => `${known.switches[place].key}: ${select.selectedOptions[0].text}`);
    // One choice fixes all others, and the reader must know: of how many the first reading counts.
    const rest = selects.length - other.length;
    const first = !other.length ? 'First reading of every choice' : `first reading of the ${rest === 1 ? 'other' : `${rest} others`}`;
    const words = chosen === null ? 'All readings' : [...other, ...(rest ? [first] : [])].join('; ');
    const output = bar.querySelector('output');
    output.textContent = words;
    output.title = words;
    bar.classList.toggle('chosen', chosen !== null);
    bar.querySelector('[type=reset]').disabled = chosen === null;
    for (const select of selects) select.options[0].disabled = chosen !== null;
    for (const select of selects) select.classList.toggle('other', Number(select.value) > 0);
  };

  bar.addEventListener('change', () => {
    for (const select of selects) if (select.value === '') select.value = '0';
    chosen = known.switches.map((_, place) => Number(byPlace.get(place).value));
    say();
    follow();
  });
  bar.addEventListener('reset', () => setTimeout(() => {  // after the browser, which skips an option that is disabled
    for (const select of selects) select.options[0].disabled = false;
    for (const select of selects) select.value = '';
    chosen = null;
    say();
    follow();
    selects[0].focus();  // the button that had the focus is now disabled
  }));
  bar.addEventListener('submit', event => event.preventDefault());
  bar.addEventListener('keydown', event => {
    if (event.key !== 'Escape' || !panel.open) return;
    panel.open = false;
    panel.querySelector('summary').focus();
  });
  bar.hidden = false;
  // On a narrow screen all switches are in the panel. Where the bar needs more than a line, the page leaves it the room.
  const agents = bar.querySelector('.agents'), media = window.matchMedia('(max-width: 999px)');
  const arrange = () => {
    if (media.matches) panel.querySelector('.panel').prepend(agents); else bar.prepend(agents);
    document.body.style.setProperty('--bar', `${bar.offsetHeight}px`);
  };
  arrange();
  window.addEventListener('resize', arrange);
}
