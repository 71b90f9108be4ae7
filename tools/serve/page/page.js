// SPDX-License-Identifier: BSD-3-Clause
// The page of `cippus serve`. Names and values of files are put in as text, never as HTML. All that is shown is in the URL after
// the `#`, so that each view can be linked to: file, path, tab, view, and how the elements are cut and coloured.
"use strict";

const $ = id => document.getElementById(id);
const MOST_PIXELS = 1024, MOST_POINTS = 8192, ROWS = 40, COLUMNS = 16, PAGE = 200;

// An element; `props` are its properties, or attributes where the name has a dash.
function el(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props)) k.includes("-") ? e.setAttribute(k, v) : (e[k] = v);
  e.append(...children.filter(c => c != null));
  return e;
}

function say(text, bad = false) {
  $("status").textContent = text;
  $("status").className = bad ? "bad" : "";
}

function bytes(n) {
  if (n == null) return "?";
  let u = 0;
  for (; n >= 1024 && u < 4; u++) n /= 1024;
  return (u ? n.toFixed(1) : n) + " " + ["B", "KiB", "MiB", "GiB", "TiB"][u];
}

// --- the server ---------------------------------------------------------------------------------

const token = (() => {
  const given = new URLSearchParams(location.search).get("token");
  try {
    if (given) {
      sessionStorage.setItem("token", given);
      history.replaceState(null, "", location.pathname + location.hash);
    }
    return given || sessionStorage.getItem("token");
  } catch {
    return given;
  }
})();

async function ask(call, query, form = "json") {
  const answer = await fetch(`api/v1/${call}?${new URLSearchParams(query)}`, token ? { headers: { Authorization: `Bearer ${token}` } } : {});
  if (!answer.ok) {
    let text = `${answer.status} ${answer.statusText}`;
    try {
      text = (await answer.json()).error.text;
    } catch { /* no JSON: the status will do */ }
    throw new Error(text);
  }
  return form === "json" ? JSON.parse(exact(await answer.text())) : { data: await answer.arrayBuffer(), shape: JSON.parse(answer.headers.get("X-Cippus-Shape")) };
}

// Integers that JavaScript's numbers do not hold become texts, so that no digit is lost.
function exact(json) {
  return json.replace(/"(?:\\.|[^"\\])*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g, t => LONG.test(t) ? `"${t}"` : t);
}

const LONG = /^-?\d{16,}$/;

// --- what is shown ------------------------------------------------------------------------------

let state = {};
let turn = 0; // of the newest view: what an older one gets is dropped

function read() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function hash(next) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(next)) if (v != null && (v !== "" || k === "path")) q.set(k, v);
  return "#" + q;
}

// A new view; with `over` in place of this one in the history.
function go(next, over = false) {
  if (over) {
    history.replaceState(null, "", hash(next));
    show();
  } else if (hash(next) === location.hash) show();
  else location.hash = hash(next);
}

const set = (change, over) => go({ ...state, ...change }, over);

async function show() {
  const was = state, mine = ++turn;
  state = read();
  document.title = [state.path, state.file || state.folder, "cippus"].filter(Boolean).join(" – ");
  showSteps();
  $("search").hidden = state.file == null;
  say("…");
  try {
    if (state.file == null) await showFolder(mine);
    else {
      if (was.file !== state.file || !$("side").firstChild || $("side").dataset.of !== "file") await showFile(mine);
      markCurrent();
      if (mine === turn) await showMain(mine);
    }
    if (mine === turn && $("status").textContent === "…") say("");
  } catch (e) {
    if (mine === turn) say(e.message, true);
  }
}

function showSteps() {
  const name = state.file ?? state.folder ?? "", steps = name ? name.split("/") : [];
  const nav = $("steps");
  nav.replaceChildren(el("a", { href: "#", textContent: "all" }));
  steps.forEach((s, i) => {
    const upto = steps.slice(0, i + 1).join("/"), last = state.file != null && i === steps.length - 1;
    nav.append(" / ", el("a", { href: hash(last ? { file: upto } : { folder: upto }), textContent: s }));
  });
}

// --- folders and files --------------------------------------------------------------------------

// A list that grows by pages: `get(offset)` gives { total, items }; `item` makes the row of one.
async function paged(list, get, item) {
  const more = el("button", { className: "row quiet", textContent: "more…" });
  let n = 0;
  const next = async () => {
    const { total, items } = await get(n);
    n += items.length;
    more.remove();
    list.append(...items.map(item));
    if (n < total && items.length) list.append(el("li", {}, more));
  };
  more.onclick = () => next().catch(e => say(e.message, true));
  await next();
}

function row(text, note, next, extra = {}) {
  return el("li", {}, el("button", { className: "row", onclick: () => go(next), ...extra }, text, " ", el("span", { className: "quiet", textContent: note })));
}

async function showFolder(mine) {
  const folder = state.folder ?? "", list = el("ul");
  const below = name => (folder ? folder + "/" : "") + name;
  await paged(list, async offset => {
    const got = await ask("list", { folder, offset, limit: PAGE });
    return { total: got.total - got.offset, items: got.entries };
  }, e => e.type === "folder" ? row(e.name + "/", "", { folder: below(e.name) })
    : row(e.name, e.format ? `${e.format}, ${e.arrays} array${e.arrays === 1 ? "" : "s"}${e.nbytes != null ? ", " + bytes(e.nbytes) : ""}` : "no known format",
      { file: below(e.name) }, e.format ? {} : { title: e.why }));
  if (mine !== turn) return;
  $("side").dataset.of = "folder";
  $("side").replaceChildren(list);
  $("main").replaceChildren(el("p", { className: "quiet", textContent: list.firstChild ? "Choose a file." : "This folder is empty." }));
}

function arrayRow(a) {
  return row(a.path || "(the array)", `${a.dtype} [${a.shape}]${a.state === "ok" ? "" : " – " + a.why}`, { file: state.file, path: a.path, tab: "data" },
    { "data-path": a.path });
}

// A node of the tree: an array leads to its data, other ones open.
function nodeItem(child) {
  const { node, length, array } = child, name = node.path.split("/").pop().replaceAll("~1", "/").replaceAll("~0", "~");
  if (array) return row(name, "array", { file: state.file, path: node.path, tab: "data" }, { "data-path": node.path });
  if (node.type !== "map" && node.type !== "seq") {
    const value = node.value === null ? "null" : String(node.value);
    return el("li", {}, el("button", { className: "row", title: value, onclick: () => say(`${node.path}: ${value}`) },
      name, " ", el("span", { className: "quiet", textContent: value.length > 60 ? value.slice(0, 60) + "…" : value })));
  }
  const below = el("ul", { hidden: true });
  const open = el("button", { className: "row", "aria-expanded": "false", textContent: `▸ ${name} ` }, el("span", { className: "quiet", textContent: `${length}` }));
  open.onclick = async () => {
    below.hidden = !below.hidden;
    open.setAttribute("aria-expanded", String(!below.hidden));
    open.firstChild.textContent = `${below.hidden ? "▸" : "▾"} ${name} `;
    if (!below.firstChild) await treeBelow(below, node.path).catch(e => say(e.message, true));
  };
  return el("li", {}, open, below);
}

function treeBelow(list, path) {
  return paged(list, async offset => {
    const got = await ask("tree", { file: state.file, path, offset, limit: PAGE });
    return { total: got.total, items: got.children };
  }, nodeItem);
}

async function showFile(mine) {
  const file = state.file, arrays = el("ul", { id: "arrays" }), tree = el("ul", { id: "tree" });
  $("search").value = "";
  await paged(arrays, async offset => {
    const got = await ask("arrays", { file, offset, limit: PAGE });
    return { total: got.total, items: got.arrays };
  }, arrayRow);
  await treeBelow(tree, "");
  if (mine !== turn) return;
  $("side").dataset.of = "file";
  $("side").replaceChildren(el("ul", { id: "found" }), el("h2", { textContent: "Arrays" }), arrays,
    ...(tree.firstChild ? [el("h2", { textContent: "Tree" }), tree] : []));
}

function markCurrent() {
  for (const b of $("side").querySelectorAll("[data-path]"))
    b.setAttribute("aria-current", String(state.path != null && b.dataset.path === state.path));
}

async function search() {
  const text = $("search").value, file = state.file, list = $("found");
  if (!list) return;
  if (!text) return list.replaceChildren();
  const [arrays, nodes] = await Promise.all([ask("arrays", { file, text, limit: 50 }), ask("search", { file, text })]);
  if (text !== $("search").value) return;
  const items = [...arrays.arrays.map(arrayRow), ...nodes.found.filter(f => !f.array).map(nodeItem)];
  for (const f of items) f.firstChild.title ||= "";
  list.replaceChildren(el("li", {}, el("h2", { textContent: `Found: ${arrays.total + nodes.found.filter(f => !f.array).length}${nodes.complete ? "" : " and more"}` })), ...items);
}

// --- the main pane ------------------------------------------------------------------------------

function tabs(names, current, key) {
  return names.map(([name, label]) =>
    el("button", { textContent: label, "aria-pressed": String(name === current), "data-tab": name, onclick: () => set({ [key]: name }) }));
}

async function showMain(mine) {
  if (state.path == null) return showInfo(mine);
  const query = { file: state.file, path: state.path };
  const got = await ask("array", query);
  if (mine !== turn) return;
  const a = got.array, tab = state.tab ?? "data";
  const parts = [`${a.dtype} [${a.shape}]`, a.chunk && `chunks [${a.chunk}]`, a.codec, a.stored_nbytes != null && `${bytes(a.stored_nbytes)} stored`,
    a.ratio && `ratio ${a.ratio}`, a.masked && "masked"].filter(Boolean);
  const pane = el("div", { id: "pane" });
  $("main").replaceChildren(el("h1", { textContent: a.path || state.file }), el("p", { className: "quiet", textContent: parts.join(" · ") }),
    el("div", { className: "bar" }, ...tabs([["data", "Data"], ["chunks", "Chunks"], ["attributes", "Attributes"]], tab, "tab"),
      el("button", { textContent: "File", onclick: () => go({ file: state.file }) })), pane);
  if (a.state !== "ok") {
    pane.append(el("p", { className: "bad", textContent: a.why }));
    return;
  }
  if (tab === "chunks") await showChunks(pane, query, got, mine);
  else if (tab === "attributes") showAttributes(pane, got);
  else await showData(pane, got, mine);
}

const pretty = v => typeof v === "string" ? v : JSON.stringify(v, null, 1);

function pairs(object) {
  return el("dl", {}, ...Object.entries(object).flatMap(([k, v]) => [el("dt", { textContent: k }), el("dd", { textContent: pretty(v) })]));
}

function showAttributes(pane, got) {
  const parts = [["Attributes", got.attributes], ["Axes", got.axes && Object.fromEntries(got.axes.map((n, i) => [i, n]))], ["Beside it in the tree", got.beside],
    ["As it stands in the file", got.node]];
  for (const [title, object] of parts)
    if (object && Object.keys(object).length) pane.append(el("h2", { textContent: title }), pairs(object));
  if (!pane.firstChild) pane.append(el("p", { className: "quiet", textContent: "There are no attributes." }));
}

async function showInfo(mine) {
  const info = await ask("info", { file: state.file });
  if (mine !== turn) return;
  const { array_list: _, facts, file: _file, ...rest } = info, found = el("div", { id: "findings" });
  const deep = el("input", { type: "checkbox", checked: true }), check = el("button", { id: "verify", textContent: "Verify" });
  check.onclick = () => verify(found, deep.checked).catch(e => say(e.message, true));
  $("main").replaceChildren(el("h1", { textContent: state.file }), pairs({ ...rest, nbytes: bytes(rest.nbytes), decoded_nbytes: bytes(rest.decoded_nbytes), ...facts }),
    el("div", { className: "bar" }, el("a", { href: "files/" + encodePath(state.file), textContent: "Download", hidden: token != null }),
      check, el("label", {}, deep, "decode every chunk")), found);
}

const encodePath = name => name.split("/").map(encodeURIComponent).join("/");

async function verify(pane, deep) {
  pane.replaceChildren(el("p", { className: "quiet", textContent: "Checking…" }));
  const got = await ask("verify", { file: state.file, deep: deep ? 1 : 0 });
  if (!got.findings.length) return pane.replaceChildren(el("p", { textContent: "No findings." }));
  pane.replaceChildren(table(["severity", "code", "part", "offset", "text"], got.findings));
}

function table(keys, rows) {
  return el("div", { className: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...keys.map(k => el("th", { textContent: k })))),
    el("tbody", {}, ...rows.map(r => el("tr", {}, ...keys.map(k => el("td", { className: typeof r[k] === "string" ? "text" : "", textContent: r[k] == null ? "" : pretty(r[k]) })))))));
}

// --- chunks -------------------------------------------------------------------------------------

// Dark for well compressed, light for as large as its elements; special ones are grey.
function chunkColour(c) {
  if (c.error || c.state === "missing") return "#d0342c";
  if (c.state !== "data") return "#999";
  return colour("viridis", Math.min(1, c.stored_nbytes / Math.max(1, c.decoded_nbytes)));
}

async function showChunks(pane, query, got, mine) {
  const offset = Number(state.chunk ?? 0), page = await ask("chunks", { ...query, offset, limit: 1000 });
  if (mine !== turn) return;
  const across = Math.max(1, Math.min(64, Math.ceil(Math.sqrt(page.chunks.length)))), size = clamp(Math.floor(480 / across), 12, 40), down = Math.ceil(page.chunks.length / across);
  const canvas = el("canvas", { id: "map", width: across * size, height: Math.max(1, down * size), "aria-label": "chunks by ratio" }), g = canvas.getContext("2d");
  page.chunks.forEach((c, i) => {
    g.fillStyle = chunkColour(c);
    g.fillRect((i % across) * size, Math.floor(i / across) * size, size - 1, size - 1);
  });
  canvas.onmousemove = e => {
    const box = canvas.getBoundingClientRect(), i = Math.floor((e.clientY - box.top) / size) * across + Math.floor((e.clientX - box.left) / size);
    if (page.chunks[i]) say(chunkText(page.chunks[i]));
  };
  const rows = page.chunks.slice(0, PAGE).map(c => ({ ...c, elements: c.box && c.box.map(b => b.join(":")).join(", "), ratio: c.stored_nbytes ? +(c.decoded_nbytes / c.stored_nbytes).toFixed(3) : null,
    why: c.why ?? c.error }));
  pane.append(el("p", { textContent: `${page.nchunk} chunks${offset ? `, from ${offset}` : ""}` }), canvas,
    el("div", { className: "bar" }, ...[[offset > 0, "First", null], [page.next != null, "Next", page.next]].map(([there, label, at]) =>
      el("button", { textContent: label, disabled: !there, onclick: () => set({ chunk: at }) }))),
    table(["chunk", "run", "state", "elements", "codec", "stored_nbytes", "decoded_nbytes", "ratio", "offset", "member", "why"], rows));
}

function chunkText(c) {
  return `chunk ${c.chunk}: ${c.error ?? c.state}, ${c.codec ?? ""}, ${c.stored_nbytes ?? "?"} of ${c.decoded_nbytes ?? "?"} bytes${c.why ? ", " + c.why : ""}`;
}

// --- elements -----------------------------------------------------------------------------------

function float16(h) {
  const s = h & 0x8000 ? -1 : 1, e = h >> 10 & 31, m = h & 1023;
  return e === 0 ? s * m * 2 ** -24 : e === 31 ? (m ? NaN : s * Infinity) : s * (1 + m / 1024) * 2 ** (e - 15);
}

// By the name of the type: how many bytes an element has, and how one is read, little-endian.
const READERS = {
  bool8: [1, (v, i) => v.getUint8(i)], int8: [1, (v, i) => v.getInt8(i)], uint8: [1, (v, i) => v.getUint8(i)],
  int16: [2, (v, i) => v.getInt16(i, true)], uint16: [2, (v, i) => v.getUint16(i, true)], int32: [4, (v, i) => v.getInt32(i, true)],
  uint32: [4, (v, i) => v.getUint32(i, true)], int64: [8, (v, i) => Number(v.getBigInt64(i, true))], uint64: [8, (v, i) => Number(v.getBigUint64(i, true))],
  float16: [2, (v, i) => float16(v.getUint16(i, true))], float32: [4, (v, i) => v.getFloat32(i, true)], float64: [8, (v, i) => v.getFloat64(i, true)],
  complex64: [8, (v, i) => Math.hypot(v.getFloat32(i, true), v.getFloat32(i + 4, true))],
  complex128: [16, (v, i) => Math.hypot(v.getFloat64(i, true), v.getFloat64(i + 8, true))],
};

async function numbers(query, dtype, masked) {
  const [got, mask] = await Promise.all([ask("window", { ...query, as: "raw" }, "raw"), masked ? ask("window", { ...query, as: "raw", mask: 1 }, "raw") : null]);
  const [size, reader] = READERS[dtype], view = new DataView(got.data), n = view.byteLength / size;
  const values = new Float64Array(n), missing = mask ? new Uint8Array(mask.data) : null;
  for (let i = 0; i < n; i++) values[i] = reader(view, i * size);
  return { values, missing, shape: got.shape };
}

// What is asked for: the array, or a field of its records, whose own axes come last.
function subject(got) {
  const field = got.fields.find(f => f.name === state.field) ?? null;
  const a = got.array;
  const step = field && field.name.replaceAll("~", "~0").replaceAll("/", "~1");
  return field ? { path: a.path ? `${a.path}/${step}` : step, dtype: field.dtype, shape: [...a.shape, ...field.shape], masked: a.masked, field }
    : { path: a.path, dtype: a.dtype, shape: a.shape, masked: a.masked };
}

const clamp = (v, low, high) => Math.min(high, Math.max(low, v));

// The cut: axes of the image (down, across), an index for each other axis, and ranges of the two.
function cutOf(shape) {
  const n = shape.length, ints = text => (text ?? "").split(",").filter(s => /^\d+$/.test(s)).map(Number);
  let [down, across] = ints(state.axes);
  if (!(down < n && across < n && down !== across)) [down, across] = [n - 2, n - 1];
  const at = ints(state.at), range = text => (/^\d+:\d+$/.test(text ?? "") ? text.split(":").map(Number) : null);
  const fit = (r, axis) => r && r[0] < r[1] && r[1] <= shape[axis] ? r : [0, shape[axis] ?? 0];
  return { down, across, at: shape.map((len, k) => clamp(at[k] ?? 0, 0, Math.max(0, len - 1))), rows: fit(range(state.rows), down), columns: fit(range(state.columns), across) };
}

function selection(shape, parts) {
  return "[" + shape.map((_, k) => parts[k]).join(", ") + "]";
}

const isNumeric = dtype => dtype in READERS;

async function showData(pane, got, mine) {
  const s = subject(got), n = s.shape.length, numeric = isNumeric(s.dtype), cut = cutOf(s.shape);
  const views = [numeric && n >= 2 && ["image", "Image"], numeric && n >= 1 && ["line", "Line"], ["table", "Table"]].filter(Boolean);
  const view = views.some(([name]) => name === state.view) ? state.view : views[0][0];
  const bar = el("div", { className: "bar" }, ...tabs(views, view, "view"));
  if (got.fields.length) {
    const choose = el("select", { "aria-label": "field" }, el("option", { value: "", textContent: "all fields" }), ...got.fields.map(f => el("option", { value: f.name, textContent: f.name })));
    choose.value = s.field ? s.field.name : "";
    choose.onchange = () => set({ field: choose.value, at: null, axes: null, rows: null, columns: null, view: null });
    bar.append(choose);
  }
  pane.append(bar, sliders(s.shape, cut, view, got.axes));
  const body = el("div", { id: "view" });
  pane.append(body);
  if (s.shape.some(len => len === 0)) return body.append(el("p", { className: "quiet", textContent: "The array is empty." }));
  await ({ image: showImage, line: showLine, table: showTable })[view](body, s, cut, mine);
}

// A slider for each axis that the view leaves, and which axes it shows.
function sliders(shape, cut, view, names) {
  const bar = el("div", { className: "bar" }), shown = view === "line" ? [cut.across] : [cut.down, cut.across];
  const name = k => names?.[k] ?? `axis ${k}`;
  if (shape.length > 2 && view !== "line") {
    const axis = (label, key) => {
      const choose = el("select", { "aria-label": label }, ...shape.map((len, k) => el("option", { value: k, textContent: `${name(k)} (${len})` })));
      choose.value = cut[key];
      choose.onchange = () => {
        const next = { ...cut, [key]: Number(choose.value) }, other = key === "down" ? "across" : "down";
        if (next.down === next.across) next[other] = cut[key];
        set({ axes: `${next.down},${next.across}`, rows: null, columns: null });
      };
      return el("label", {}, label, choose);
    };
    bar.append(axis("down", "down"), axis("across", "across"));
  }
  shape.forEach((len, k) => {
    if (shown.includes(k) || shape.length === 0) return;
    const props = { min: 0, max: Math.max(0, len - 1), value: cut.at[k], "aria-label": name(k) };
    const slide = el("input", { type: "range", "data-axis": k, ...props }), number = el("input", { type: "number", ...props });
    slide.max = number.max = Math.max(0, len - 1);
    slide.value = number.value = cut.at[k];
    const move = value => set({ at: cut.at.map((v, i) => i === k ? clamp(Math.round(Number(value)) || 0, 0, len - 1) : v).join(",") }, true);
    slide.onchange = () => move(slide.value);
    slide.oninput = () => (number.value = slide.value);
    number.onchange = () => move(number.value);
    bar.append(el("label", {}, name(k), slide, number));
  });
  return bar;
}

// --- the image ----------------------------------------------------------------------------------

// Anchors of matplotlib's maps, 0 to 1 in equal steps.
const MAPS = {
  viridis: ["440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"],
  magma: ["000004", "180f3d", "440f76", "721f81", "9e2f7f", "cd4071", "f1605d", "fd9668", "feca8d", "fcfdbf"],
  coolwarm: ["3b4cc0", "6788ee", "9abbff", "c9d7f0", "edd1c2", "f7a889", "e26952", "b40426"],
  gray: ["000000", "ffffff"],
};
const RGB = Object.fromEntries(Object.entries(MAPS).map(([name, list]) => [name, list.map(h => [0, 2, 4].map(i => parseInt(h.slice(i, i + 2), 16)))]));

function rgb(map, t) {
  const list = RGB[map] ?? RGB.viridis, x = clamp(t, 0, 1) * (list.length - 1), i = Math.min(list.length - 2, Math.floor(x));
  return list[i].map((v, k) => v + (list[i + 1][k] - v) * (x - i));
}

const colour = (map, t) => `rgb(${rgb(map, t).map(Math.round)})`;

const same = v => v;
const SCALES = { // a name, a function and its inverse
  linear: ["minimum to maximum", same, same], percentile: ["1 % to 99 %", same, same], log: ["logarithmic", Math.log, Math.exp], asinh: ["asinh", Math.asinh, Math.sinh],
};

// [low, high] of what is finite (and positive, for logarithms), after the scale's function.
function bounds(values, missing, scale) {
  const f = SCALES[scale][1], list = [];
  for (let i = 0; i < values.length; i++) {
    const v = f(values[i]);
    if (Number.isFinite(v) && !(missing && missing[i])) list.push(v);
  }
  const sorted = Float64Array.from(list).sort(), n = sorted.length;
  if (!n) return [0, 1];
  return scale === "percentile" ? [sorted[Math.floor((n - 1) * 0.01)], sorted[Math.ceil((n - 1) * 0.99)]] : [sorted[0], sorted[n - 1]];
}

function paint(canvas, got, width, height, scale, map) {
  canvas.width = width;
  canvas.height = height;
  const g = canvas.getContext("2d"), image = g.createImageData(width, height), f = SCALES[scale][1];
  const [low, high] = bounds(got.values, got.missing, scale), span = high - low || 1;
  for (let i = 0; i < width * height; i++) {
    const v = f(got.values[i]);
    const c = got.missing && got.missing[i] ? [255, 0, 255] : Number.isNaN(v) ? [128, 128, 128] : rgb(map, (v - low) / span);
    image.data.set([c[0], c[1], c[2], 255], 4 * i);
  }
  g.putImageData(image, 0, 0);
  return [low, high].map(SCALES[scale][2]);
}

async function showImage(body, s, cut, mine) {
  const length = r => r[1] - r[0], steps = [cut.rows, cut.columns].map(r => Math.ceil(length(r) / MOST_PIXELS));
  const parts = [...cut.at];
  parts[cut.down] = `${cut.rows.join(":")}:${steps[0]}`;
  parts[cut.across] = `${cut.columns.join(":")}:${steps[1]}`;
  const got = await numbers({ file: state.file, path: s.path, select: selection(s.shape, parts) }, s.dtype, s.masked);
  if (mine !== turn) return;
  const turned = cut.down > cut.across, height = got.shape[turned ? 1 : 0], width = got.shape[turned ? 0 : 1];
  if (turned) transpose(got, width, height);
  const scale = state.scale in SCALES ? state.scale : "linear", map = state.map in MAPS ? state.map : "viridis";
  const canvas = el("canvas", { id: "image", "aria-label": "image of the elements" }), frame = el("div", { className: "frame" }, canvas);
  zoom.cut = { rows: cut.rows, columns: cut.columns, shape: [s.shape[cut.down], s.shape[cut.across]] };
  const range = paint(canvas, got, width, height, scale, map);
  const shownWidth = Math.max(width, Math.min(640, width * 16)), factor = Math.max(1, Math.floor(shownWidth / width));
  canvas.style.width = `${width * factor}px`;
  const choose = (label, key, names, value) => {
    const c = el("select", { "aria-label": label, id: key }, ...names.map(([v, text]) => el("option", { value: v, textContent: text })));
    c.value = value;
    c.onchange = () => set({ [key]: c.value }, true);
    return el("label", {}, label, c);
  };
  body.append(el("div", { className: "bar" }, choose("scale", "scale", Object.entries(SCALES).map(([k, v]) => [k, v[0]]), scale),
    choose("colours", "map", Object.keys(MAPS).map(k => [k, k]), map),
    el("button", { textContent: "Whole", disabled: length(cut.rows) === s.shape[cut.down] && length(cut.columns) === s.shape[cut.across], onclick: () => set({ rows: null, columns: null }) }),
    el("span", { className: "quiet", id: "range", textContent: `${format(range[0])} to ${format(range[1])}` +
      (Math.max(...steps) > 1 ? `, every ${steps[0]}th row, ${steps[1]}th column` : "") })), frame);
  pointer(canvas, frame, cut, steps, (x, y) => {
    const i = y * width + x, at = [...cut.at];
    at[cut.down] = cut.rows[0] + y * steps[0];
    at[cut.across] = cut.columns[0] + x * steps[1];
    say(`[${at.join(", ")}] = ${got.missing && got.missing[i] ? "missing" : format(got.values[i])}`);
  });
}

function transpose(got, width, height) {
  for (const key of ["values", "missing"])
    if (got[key]) got[key] = got[key].map((_, i, all) => all[(i % width) * height + Math.floor(i / width)]);
}

const format = v => Number.isSafeInteger(v) ? String(v) : (Number.isInteger(v) ? "about " : "") + String(+v.toPrecision(7));

// Where the pointer is; a rectangle that is dragged becomes the range of both axes.
function pointer(canvas, frame, cut, steps, tell) {
  let from = null, box = null;
  const place = e => {
    const r = canvas.getBoundingClientRect();
    return [clamp(Math.floor((e.clientX - r.left) / r.width * canvas.width), 0, canvas.width - 1), clamp(Math.floor((e.clientY - r.top) / r.height * canvas.height), 0, canvas.height - 1)];
  };
  canvas.onpointerdown = e => {
    from = place(e);
    canvas.setPointerCapture(e.pointerId);
  };
  canvas.onpointermove = e => {
    const to = place(e);
    tell(...to);
    if (!from) return;
    if (!box) frame.append(box = el("div", { className: "box" }));
    const sx = canvas.clientWidth / canvas.width, sy = canvas.clientHeight / canvas.height;
    const [x, y] = [0, 1].map(k => Math.min(from[k], to[k])), [w, h] = [0, 1].map(k => Math.abs(from[k] - to[k]) + 1);
    Object.assign(box.style, { left: `${x * sx}px`, top: `${y * sy}px`, width: `${w * sx}px`, height: `${h * sy}px` });
  };
  canvas.onpointerup = e => {
    const to = place(e), a = from;
    from = null;
    box?.remove();
    box = null;
    if (!a || (Math.abs(a[0] - to[0]) < 2 && Math.abs(a[1] - to[1]) < 2)) return;
    const range = (k, start, step) => `${start + Math.min(a[k], to[k]) * step}:${Math.min(start + (Math.max(a[k], to[k]) + 1) * step, k ? cut.rows[1] : cut.columns[1])}`;
    set({ rows: range(1, cut.rows[0], steps[0]), columns: range(0, cut.columns[0], steps[1]) });
  };
  canvas.ondblclick = () => set({ rows: null, columns: null });
}

function zoom(factor) {
  const image = $("image");
  if (!image || !zoom.cut) return;
  const { rows, columns, shape } = zoom.cut;
  const scaled = ([a, b], len) => {
    const half = Math.max(1, (b - a) * factor / 2), mid = (a + b) / 2;
    return `${Math.max(0, Math.floor(mid - half))}:${Math.min(len, Math.ceil(mid + half))}`;
  };
  set({ rows: scaled(rows, shape[0]), columns: scaled(columns, shape[1]) }, true);
}

// --- lines and tables ---------------------------------------------------------------------------

async function showLine(body, s, cut, mine) {
  const axis = cut.across < 0 ? 0 : cut.across, len = s.shape[axis];
  const whole = s.shape.length === 1 ? cutRange(state.columns, len) : cut.columns, step = Math.ceil((whole[1] - whole[0]) / MOST_POINTS);
  const parts = [...cut.at];
  parts[axis] = `${whole.join(":")}:${step}`;
  const got = await numbers({ file: state.file, path: s.path, select: selection(s.shape, parts) }, s.dtype, s.masked);
  if (mine !== turn) return;
  const x = Float64Array.from(got.values, (_, i) => whole[0] + i * step), y = Array.from(got.values, (v, i) => Number.isFinite(v) && !(got.missing && got.missing[i]) ? v : null);
  const style = getComputedStyle(document.documentElement), soft = style.getPropertyValue("--soft"), line = style.getPropertyValue("--line"), axes = { stroke: soft, grid: { stroke: line }, ticks: { stroke: line } };
  if (step > 1) body.append(el("p", { className: "quiet", textContent: `Every ${step}th element is drawn.` }));
  const plot = el("div", { id: "plot" });
  body.append(plot);
  new uPlot({ width: Math.max(320, Math.min(1000, $("main").clientWidth - 40)), height: 380, scales: { x: { time: false } }, axes: [axes, { ...axes, size: 70 }],
    series: [{ label: "index" }, { label: s.field?.name || s.path || "value", stroke: style.getPropertyValue("--mark"), points: { show: x.length < 200 } }] }, [x, y], plot);
}

function cutRange(text, len) {
  const r = /^\d+:\d+$/.test(text ?? "") ? text.split(":").map(Number) : [0, len];
  return r[0] < r[1] && r[1] <= len ? r : [0, len];
}

async function showTable(body, s, cut, mine) {
  const n = s.shape.length, top = clamp(Number(state.top ?? 0) || 0, 0, Math.max(0, (n > 1 ? s.shape[cut.down] : s.shape[0] ?? 1) - 1));
  const left = n > 1 ? clamp(Number(state.left ?? 0) || 0, 0, s.shape[cut.across] - 1) : 0, parts = [...cut.at];
  const down = n > 1 ? cut.down : 0;
  if (n > 0) parts[down] = `${top}:${top + ROWS}`;
  if (n > 1) parts[cut.across] = `${left}:${left + COLUMNS}`;
  let rows = await ask("window", { file: state.file, path: s.path, ...(n ? { select: selection(s.shape, parts) } : {}) });
  if (mine !== turn) return;
  rows = n === 0 ? [rows] : rows;
  if (n > 1 && cut.down > cut.across) rows = rows[0].map((_, i) => rows.map(r => r[i]));
  const isRecord = n <= 1 && rows[0] !== null && typeof rows[0] === "object" && !Array.isArray(rows[0]);
  const heads = isRecord ? Object.keys(rows[0]) : n > 1 ? rows[0].map((_, i) => String(left + i)) : ["value"];
  const cells = r => isRecord ? heads.map(h => r[h]) : n > 1 ? r : [r];
  const move = (label, key, at, there) => el("button", { textContent: label, disabled: !there, onclick: () => set({ [key]: at }, true) });
  const height = n > 0 ? s.shape[down] : 1, width = n > 1 ? s.shape[cut.across] : 1;
  body.append(el("div", { className: "bar" }, move("↑", "top", Math.max(0, top - ROWS), top > 0), move("↓", "top", top + ROWS, top + ROWS < height),
    ...(n > 1 ? [move("←", "left", Math.max(0, left - COLUMNS), left > 0), move("→", "left", left + COLUMNS, left + COLUMNS < width)] : [])),
    el("div", { className: "scroll" }, el("table", { id: "table" }, el("thead", {}, el("tr", {}, el("th"), ...heads.map(h => el("th", { textContent: h })))),
      el("tbody", {}, ...rows.map((r, i) => el("tr", {}, el("th", { textContent: String(top + i) }),
        ...cells(r).map(v => el("td", { className: typeof v === "string" && !LONG.test(v) ? "text" : "", textContent: v === null ? "missing" : pretty(v) }))))))));
}

// --- keys, theme --------------------------------------------------------------------------------

function theme(next) {
  const dark = next ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = dark;
  try {
    if (next) localStorage.setItem("theme", next);
  } catch { /* it is not kept, then */ }
}

function toggleTheme() {
  theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  if ($("plot")) show();
}

function step(by) {
  const slide = $("main").querySelector("input[data-axis]");
  if (!slide) return;
  slide.value = Number(slide.value) + by;
  slide.onchange();
}

const up = () => go({ folder: (state.file ?? state.folder ?? "").split("/").slice(0, -1).join("/") });
const KEYS = {
  "/": () => $("search").focus(), "?": () => $("keys").showModal(), d: toggleTheme, u: up, i: () => set({ tab: "data", view: "image" }),
  l: () => set({ tab: "data", view: "line" }), t: () => set({ tab: "data", view: "table" }), c: () => set({ tab: "chunks" }), a: () => set({ tab: "attributes" }),
  v: () => state.file != null && (state.path == null ? $("verify")?.click() : go({ file: state.file })), ArrowLeft: () => step(-1), ArrowRight: () => step(1),
  "+": () => zoom(0.5), "-": () => zoom(2), 0: () => set({ rows: null, columns: null }),
};

addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || !(e.key in KEYS)) return;
  if ("iltca+-0".includes(e.key) && state.path == null) return;
  e.preventDefault();
  KEYS[e.key]();
});
addEventListener("hashchange", show);
$("theme").onclick = toggleTheme;
$("help").onclick = KEYS["?"];
let waiting;
$("search").oninput = () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => search().catch(e => say(e.message, true)), 150);
};
$("search").onkeydown = e => {
  if (e.key === "Escape") $("main").focus();
};
try {
  theme(localStorage.getItem("theme"));
} catch {
  theme();
}
show();
