'use strict';
(function () {
  const root = document.documentElement;
  const tip = document.getElementById('tip');
  const said = document.getElementById('said');

  // Hover texts leave <title>, so that the browser's own tooltip does not cover ours.
  const marks = Array.from(document.querySelectorAll('.mark[data-trial]'));
  const byTrial = new Map();
  for (const mark of marks) {
    const title = mark.querySelector('title');
    if (title) {
      mark.dataset.hover = title.textContent;
      mark.setAttribute('aria-label', title.textContent);
      mark.setAttribute('role', 'img');
      title.remove();
    }
    const id = mark.dataset.trial;
    if (!byTrial.has(id)) byTrial.set(id, []);
    byTrial.get(id).push(mark);
  }

  let hot = [];
  function show(mark) {
    hide();
    hot = byTrial.get(mark.dataset.trial) || [];
    for (const other of hot) other.classList.add('hot');
    tip.textContent = mark.dataset.hover;
    said.textContent = mark.dataset.hover;
    const box = mark.getBoundingClientRect();
    const size = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left + box.width / 2 - size.width / 2), innerWidth - size.width - 8);
    const above = box.top - size.height - 8;
    tip.style.left = left + 'px';
    tip.style.top = (above > 4 ? above : box.bottom + 8) + 'px';
    tip.classList.add('on');
  }
  function hide() {
    for (const mark of hot) mark.classList.remove('hot');
    hot = [];
    tip.classList.remove('on');
  }
  document.addEventListener('mouseover', (event) => {
    const mark = event.target.closest && event.target.closest('.mark[data-trial]');
    if (mark) show(mark); else hide();
  });
  addEventListener('scroll', hide, { passive: true });

  // One tab stop per figure; arrows walk through its trials, Escape leaves them.
  for (const figure of document.querySelectorAll('svg.figure')) {
    if (!figure.querySelector('.mark[data-trial]')) continue;
    figure.setAttribute('tabindex', '0');
    let at = -1;
    const seen = () => Array.from(figure.querySelectorAll('.mark[data-trial]')).filter((m) => !m.closest('.off'));
    figure.addEventListener('keydown', (event) => {
      const list = seen();
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      if (event.key in steps && list.length) {
        at = (at + steps[event.key] + list.length) % list.length;
        show(list[at]);
        event.preventDefault();
      } else if (event.key === 'Home' && list.length) {
        at = 0;
        show(list[at]);
        event.preventDefault();
      } else if (event.key === 'End' && list.length) {
        at = list.length - 1;
        show(list[at]);
        event.preventDefault();
      } else if (event.key === 'Escape') {
        at = -1;
        hide();
      }
    });
    figure.addEventListener('blur', hide);
  }

  // Variants and traffics can be hidden everywhere at once.
  function apply() {
    const off = { variant: new Set(), traffic: new Set() };
    for (const box of document.querySelectorAll('input[data-toggle]')) {
      if (!box.checked) off[box.dataset.toggle].add(box.value);
    }
    for (const part of document.querySelectorAll('[data-variant],[data-traffic]')) {
      const d = part.dataset;
      part.classList.toggle('off', off.variant.has(d.variant) || off.traffic.has(d.traffic));
    }
    hide();
  }
  for (const box of document.querySelectorAll('input[data-toggle]')) box.addEventListener('change', apply);

  // Light, dark, or what the system says.
  const looks = ['auto', 'light', 'dark'];
  const button = document.getElementById('look');
  if (button) {
    button.addEventListener('click', () => {
      const next = looks[(looks.indexOf(root.dataset.look || 'auto') + 1) % looks.length];
      root.dataset.look = next;
      button.textContent = 'appearance: ' + next;
      for (const frame of document.querySelectorAll('iframe.flame[src]')) flame(frame);
    });
  }

  // A flame graph becomes a document of its own when it is first opened, in the page's appearance.
  const isDark = () => root.dataset.look === 'dark'
    || (root.dataset.look !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  const night = '<style>rect[fill="url(#background)"]{fill:#0f1419}'
    + 'rect[fill="rgb(250,250,250)"]{fill:#8b98a5}'
    + '#title,#subtitle,#details,#unzoom,#search,#matched{fill:#e6edf3!important}</style>';
  function flame(frame) {
    const details = frame.closest('details');
    let text = document.getElementById(details.dataset.flame).textContent.replaceAll('<\\/script', '</script');
    const end = text.lastIndexOf('</svg>');
    if (isDark() && end >= 0) text = text.slice(0, end) + night + text.slice(end);
    frame.src = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  }
  for (const details of document.querySelectorAll('details[data-flame]')) {
    const load = () => {
      const frame = details.querySelector('iframe');
      if (details.open && !frame.src) flame(frame);
    };
    details.addEventListener('toggle', load);
    load();
  }
  // What is wider than the screen says so, until its end has been seen.
  const wides = Array.from(document.querySelectorAll('.wide, pre'));
  function hint(wide) {
    wide.classList.toggle('more', wide.scrollLeft + wide.clientWidth + 2 < wide.scrollWidth);
  }
  for (const wide of wides) {
    wide.tabIndex = wide.scrollWidth > wide.clientWidth ? 0 : -1;
    wide.addEventListener('scroll', () => hint(wide), { passive: true });
    hint(wide);
  }
  addEventListener('resize', () => wides.forEach(hint));
  // what is folded has no width yet
  addEventListener('toggle', () => wides.forEach(hint), true);

  // The heads of tables sort their rows.
  const key = (row, column) => {
    const text = row.cells[column] ? row.cells[column].textContent.trim() : '';
    const number = parseFloat(text.replaceAll(',', ''));
    return { text, number: Number.isNaN(number) ? -Infinity : number, isText: !/^[+-]?[0-9]/.test(text) };
  };
  for (const table of document.querySelectorAll('.wide table')) {
    const [head, ...rows] = Array.from(table.rows);
    if (!head || rows.length < 3) continue;
    Array.from(head.cells).forEach((cell, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener('click', () => {
        const down = cell.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
        for (const other of head.cells) other.removeAttribute('aria-sort');
        cell.setAttribute('aria-sort', down === 1 ? 'ascending' : 'descending');
        const isText = rows.every((row) => key(row, column).isText);
        rows.sort((a, b) => {
          const [x, y] = [key(a, column), key(b, column)];
          return down * (isText ? x.text.localeCompare(y.text) : x.number - y.number);
        });
        rows.forEach((row) => row.parentNode.append(row));
      });
    });
  }
  addEventListener('beforeprint', () => {
    for (const details of document.querySelectorAll('details:not([data-flame])')) details.open = true;
  });
  root.dataset.ready = 'yes';
})();
