"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const figures = document.getElementById("figures");
  const by = (id) => document.getElementById(id);
  const NS = "http://www.w3.org/2000/svg";

  const draw = (tag, attributes, text) => {
    const node = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };

  const short = (value) => {
    if (value !== 0 && Math.abs(value) < 1e-3) return (value * 1e6).toPrecision(4) + " µ";
    if (value !== 0 && Math.abs(value) < 0.1) return (value * 1e3).toPrecision(4) + " m";
    if (value >= 1e6) return (value / 1e6).toPrecision(4) + " M";
    if (value >= 1e3) return (value / 1e3).toPrecision(4) + " k";
    return value.toPrecision(4);
  };

  // Ticks of equal steps in one unit, with as many digits as tell one from the next.
  const even = (ticks) => {
    const most = Math.max(...ticks.map(Math.abs));
    const sizes = [[1e6, " M"], [1e3, " k"], [0.1, ""], [1e-3, " m"], [0, " µ"]];
    const [, sign] = sizes.find(([least]) => most >= least);
    const unit = { " M": 1e6, " k": 1e3, " m": 1e-3, " µ": 1e-6 }[sign] || 1;
    const places = Math.min(12, Math.max(0, Math.ceil(-Math.log10((ticks[1] - ticks[0]) / unit) - 1e-9)));
    return ticks.map((value) => (value / unit).toFixed(places) + (value ? sign : ""));
  };

  // A figure without zeros at its end, for a logarithmic axis.
  const round = (value) => short(value).replace(/(\.\d*?)0+(?= |$)/, "$1").replace(/\.(?= |$)/, "");

  // Length of what all names begin with, up to a sign between their words: of times of one day, the day.
  const commonStart = (names) => {
    let end = Math.min(...names.map((name) => name.length - 1));
    for (const name of names) while (name.slice(0, end) !== names[0].slice(0, end)) end--;
    while (end > 0 && /[A-Za-z0-9]/.test(names[0][end - 1])) end--;
    return names.length > 1 ? Math.max(end, 0) : 0;
  };

  // Names in so many characters, different where they are: as the names below the figures of the README.
  const apart = (names, most) => {
    const ends = (name) => {
      if (name.length <= most) return name;
      const end = Math.floor((most - 1) / 2);
      return name.slice(0, most - 1 - end) + "…" + name.slice(name.length - end);
    };
    const shown = new Map(names.map((name) => [name, ends(name)]));
    for (const short of new Set(shown.values())) {
      const group = [...shown.keys()].filter((name) => shown.get(name) === short && name !== short);
      if (group.length < 2) continue;
      const shortest = Math.min(...group.map((name) => name.length));
      let begin = 0, end = 0;
      while (begin < shortest && group.every((name) => name[begin] === group[0][begin])) begin++;
      while (end < shortest - begin && group.every((name) => name.at(-1 - end) === group[0].at(-1 - end))) end++;
      const middles = group.map((name) => name.slice(begin, name.length - end));
      const longest = Math.max(...middles.map((middle) => middle.length));
      const side = Math.max(0, Math.floor((most - 2 - longest) / 2));
      const [head, tail] = [Math.min(begin, side), Math.min(end, side)];
      group.forEach((name, n) => {
        const middle = middles[n].length > most - 2 ? middles[n].slice(0, most - 2) : middles[n];
        const own = name.slice(0, head) + "…" + middle + "…" + (tail ? name.slice(-tail) : "");
        shown.set(name, own.replace("……", "…"));
      });
    }
    // what is alike still has its place
    const many = new Set(shown.values()).size;
    const numbered = (name, n) => (name.length <= most ? name : name.slice(0, most - String(n).length - 1) + "…" + n);
    return names.map((name) => (many < shown.size ? numbered(name, names.indexOf(name) + 1) : shown.get(name)));
  };

  // Round values between two, some five of them.
  const ticks = (low, high) => {
    const rough = (high - low) / 5;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
    const found = [];
    for (let n = Math.ceil(low / step); n * step <= high; n++) found.push(n * step);
    return found;
  };

  // The same on a log scale: 1, 2 and 5 of each power of ten where it spans more than linear steps serve.
  const steps = (low, high, isLog) => {
    if (!isLog || high / low < 5) return ticks(low, high);
    const leads = high / low > 1e3 ? [1] : [1, 2, 5];
    const found = [];
    for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) {
      found.push(...leads.map((lead) => lead * power).filter((v) => v >= low && v <= high));
    }
    return found;
  };

  // A change in as few letters as it takes: a percentage of next to nothing says less than how many times as much it is.
  const worded = (change) => {
    const times = 1 + change.percent / 100;
    return times > 10 ? "x" + times.toPrecision(3) : times < 0.1 ? "x" + times.toPrecision(1)
      : (change.percent > 0 ? "+" : "") + change.percent.toFixed(1) + " %";
  };

  // One series as a figure. The width is that of the window, so that text stays readable.
  const figure = (series, index) => {
    const width = Math.max(340, Math.min(1240, document.body.clientWidth - 40));
    const height = width < 600 ? 230 : 300;
    const right = 10, bottom = 28;
    const isLog = by("log").checked;
    const points = series.points;
    // a log scale has no place for 0: what is not above it lies on the axis
    const lows = points.map((p) => p.low).filter((v) => !isLog || v > 0);
    let low = lows.length ? Math.min(...lows) : 1;
    let high = Math.max(low, ...points.map((p) => p.high));
    if (by("zero").checked && !isLog) low = 0;
    if (low === high) { low = low * 0.99 || -1; high = high * 1.01 || 1; }
    const pad = (high - low) * 0.05;
    high += pad;
    if (!(by("zero").checked && !isLog)) low = low > 0 ? Math.max(low - pad, low * 0.5) : low;
    const values = steps(low, high, isLog);
    const isEven = values.length > 1 && !(isLog && high / low >= 5);
    const shown = isEven ? even(values) : values.map(round);
    const left = Math.max(62, 12 + 7 * Math.max(0, ...shown.map((own) => own.length)));
    const scale = (v) => (isLog ? Math.log(Math.max(v, low)) : v);
    const y = (v) => {
      const share = (scale(v) - scale(low)) / (scale(high) - scale(low));
      return height - bottom - share * (height - top - bottom);
    };
    const step = (width - left - right) / Math.max(points.length, 1);
    const x = (i) => left + step * (i + 0.5);
    const starts = [0, ...series.changes.map((c) => c.at)];
    // where a text of this many letters stands, whole, if it is to be at a place
    const spot = (at, text) => {
      const half = (7 * text.length) / 2;
      const middle = Math.max(half, Math.min(width - half, at));
      return { middle, from: middle - half, to: middle + half };
    };
    // a label that would lie on one before it stands a row lower
    const ends = [];
    const marks = series.changes.map((change) => {
      const at = x(change.at) - (step * change.over) / 2;
      const text = worded(change);
      const { middle, from, to } = spot(at, text);
      let row = ends.findIndex((end) => end + 6 <= from);
      if (row < 0) row = ends.length < 4 ? ends.length : ends.indexOf(Math.min(...ends));
      ends[row] = to;
      return { at, text, middle, row };
    });
    const top = 22 + 16 * Math.max(0, ...marks.map((mark) => mark.row));

    const box = document.createElement("figure");
    box.id = "s" + index;
    box.tabIndex = 0;
    const caption = document.createElement("figcaption");
    caption.textContent = series.name + ", " + series.unit;
    const said = document.createElement("span");
    said.className = "said";
    said.setAttribute("aria-live", "polite");
    caption.append(said);
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
    svg.append(draw("title", {}, series.name));

    values.forEach((value, n) => {
      svg.append(draw("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "grid" }));
      svg.append(draw("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, shown[n]));
    });
    const every = Math.max(1, Math.ceil(points.length / ((width - left) / 90)));
    // whole names where there is room: two images of a patch begin alike
    const room = points.length > 1 ? Math.max(11, Math.floor((step * every - 8) / 7)) : 24;
    const names = points.map((p) => p.label);
    const alike = names.some((name) => name.length > room) ? commonStart(names) : 0;
    const rests = alike ? names.map((name) => name.slice(alike)) : names;
    const labels = apart(rests, alike ? room - 1 : room).map((own) => (alike && own[0] !== "…" ? "…" + own : own));
    let free = 0;
    points.forEach((p, i) => {
      const { middle, from, to } = spot(x(i), labels[i]);
      // none lies on the one before it
      if (i % every !== 0 || from < free) return;
      free = to + 6;
      svg.append(draw("text", { x: middle, y: height - bottom + 18, "text-anchor": "middle" }, labels[i]));
    });

    const isLower = series.lower_is_better;
    let before = 0;
    starts.forEach((start, n) => {
      // the points of a drift are of no level
      const end = n + 1 < starts.length ? starts[n + 1] - series.changes[n].over + 1 : points.length;
      const own = points.slice(start, end).map((p) => p.median).sort((a, b) => a - b);
      if (!own.length) return;
      const level = (own[Math.floor((own.length - 1) / 2)] + own[Math.floor(own.length / 2)]) / 2;
      const ends = { x1: x(start) - step / 2, x2: x(end - 1) + step / 2, y1: y(level), y2: y(level) };
      svg.append(draw("line", { ...ends, class: "level" }));
      const old = before;
      before = level;
      if (n === 0) return;
      const change = series.changes[n - 1];
      const kind = (change.percent > 0) === isLower ? "worse" : "better";
      const { at, text, middle, row } = marks[n - 1];
      const way = change.over > 1
        ? { x1: x(start - change.over), x2: x(start), y1: y(old), y2: y(level) }
        : { x1: at, x2: at, y1: top, y2: height - bottom };
      svg.append(draw("line", { ...way, class: "change " + kind }));
      const link = draw("a", { href: "#" });
      const place = { x: middle, y: 14 + 16 * row, "text-anchor": "middle", class: kind };
      link.append(draw("text", place, text));
      link.addEventListener("click", (event) => { event.preventDefault(); box.focus(); say(start); });
      svg.append(link);
    });

    svg.append(draw("polyline", { class: "path", points: points.map((p, i) => `${x(i)},${y(p.median)}`).join(" ") }));
    const dots = points.map((p, i) => {
      svg.append(draw("line", { x1: x(i), x2: x(i), y1: y(p.low), y2: y(p.high), class: "spread" }));
      // a point of a store whose results are not here has none
      const link = draw("a", p.link ? { href: p.link.split("/").map(encodeURIComponent).join("/") } : {});
      const dot = draw("circle", { cx: x(i), cy: y(p.median), r: points.length > 80 ? 2 : 3.5, class: "dot" });
      dot.append(draw("title", {}, p.label));
      link.append(dot);
      link.setAttribute("tabindex", "-1");
      svg.append(link);
      dot.addEventListener("mouseenter", () => say(i));
      return dot;
    });
    let here = -1;
    const forget = () => {
      dots[here].classList.remove("here");
      here = -1;
      said.textContent = "";
    };
    const say = (i) => {
      if (here >= 0) dots[here].classList.remove("here");
      here = Math.max(0, Math.min(points.length - 1, i));
      const p = points[here];
      dots[here].classList.add("here");
      const date = p.date && p.label === p.revision ? ", " + p.date.slice(0, 10) : "";
      const runs = p.runs ? ", " + p.runs + " runs" : "";
      said.textContent = `${p.label}${date}: ${short(p.median)} (${short(p.low)} to ${short(p.high)})${runs}; ${p.source}`;
    };
    box.addEventListener("keydown", (event) => {
      const moves = { ArrowRight: 1, ArrowLeft: -1 };
      if (event.key in moves) { event.preventDefault(); say(here + moves[event.key]); }
      if (event.key === "Home") { event.preventDefault(); say(0); }
      if (event.key === "End") { event.preventDefault(); say(points.length - 1); }
      if (event.target !== box) return;
      if (event.key === "Enter" && here >= 0) dots[here].dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
      if (event.key === "Escape" && here >= 0) { event.preventDefault(); forget(); }
      else if (event.key === "Escape") box.blur();
    });
    box.append(caption, svg);
    return { box, say, at: () => here };
  };

  let drawn = [];
  const show = () => {
    const asked = ["machine", "configuration", "family"].map((id) => [id, by(id).value]);
    const isAsked = (series) => asked.every(([id, value]) => value === "*" || series[id] === value);
    const long = data.series.map((series, index) => ({ series, index })).filter(({ series }) => series.points.length > 1);
    const shown = long.filter(({ series }) => isAsked(series) && (!by("changed").checked || series.changes.length));
    // what had the focus has it again, at the point where it was
    const focused = figures.contains(document.activeElement) && document.activeElement.closest("figure").id;
    const at = new Map(drawn.map((own) => [own.box.id, own.at()]));
    drawn = shown.map(({ series, index }) => figure(series, index));
    figures.replaceChildren(...drawn.map((own) => own.box));
    for (const own of drawn) {
      if (at.get(own.box.id) >= 0) own.say(at.get(own.box.id));
      if (own.box.id === focused) own.box.focus({ preventScroll: true });
    }
    if (!shown.length) figures.textContent = "No series of more than one point is of this choice.";
  };

  // "#s3" leads to that figure, whatever is chosen.
  const go = () => {
    const id = location.hash.slice(1);
    if (!/^s\d+$/.test(id)) return;
    if (!by(id)) {
      for (const choice of ["machine", "configuration", "family"]) by(choice).value = "*";
      by("changed").checked = false;
      show();
    }
    if (by(id)) { by(id).focus({ preventScroll: true }); by(id).scrollIntoView({ block: "start" }); }
  };

  // A table says where it goes on.
  const wide = [...document.querySelectorAll(".wide")];
  const hint = () => wide.forEach((own) => own.classList.toggle("more", own.scrollLeft + own.clientWidth + 2 < own.scrollWidth));
  wide.forEach((own) => own.addEventListener("scroll", hint, { passive: true }));
  // what is folded has no width yet
  addEventListener("toggle", hint, true);

  for (const id of ["machine", "configuration", "family", "log", "zero", "changed"]) by(id).addEventListener("change", show);
  let wait;
  addEventListener("resize", () => { clearTimeout(wait); wait = setTimeout(() => { show(); hint(); }, 150); });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    const toggles = { l: "log", z: "zero", c: "changed" };
    if (event.key in toggles) { const box = by(toggles[event.key]); box.checked = !box.checked; show(); }
    if (event.key === "j" || event.key === "k") {
      const all = [...figures.querySelectorAll("figure")];
      const at = all.indexOf(document.activeElement) + (event.key === "j" ? 1 : -1);
      const next = all[Math.max(0, Math.min(all.length - 1, at))];
      if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
    }
  });
  addEventListener("hashchange", go);
  addEventListener("click", (event) => { if (event.target.closest('a[href^="#s"]')) setTimeout(go); });
  show();
  hint();
  go();
})();
