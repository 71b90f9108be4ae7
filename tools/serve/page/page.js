// SPDX-License-Identifier: BSD-3-Clause
// The page of `cippus serve`. Names and values of files are put in as text, never as HTML. All that is shown is in the URL after
// the `#`, so that each view can be linked to: file, path, tab, view, and how the elements are cut and coloured.
"use strict";

const $ = id => document.getElementById(id);
const ROWS = 40, COLUMNS = 16, PAGE = 200;

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
    throw Object.assign(new Error(text), { status: answer.status });
  }
  return form === "json" ? JSON.parse(exact(await answer.text())) : { facts: JSON.parse(answer.headers.get("X-Cippus-Picture")), data: await answer.arrayBuffer() };
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
    if (mine === turn) fail(e.message);
  }
}

// An error takes the place of what could not be shown.
function fail(text) {
  const place = $("main").dataset.of === location.hash ? $("view") ?? $("pane") ?? $("main") : $("main");
  say(text, true);
  place.replaceChildren(...(place === $("main") ? [el("h1", { textContent: state.file ?? state.folder ?? "" })] : []), el("p", { className: "bad", textContent: text }));
  if (place === $("main") && state.file != null) place.append(download());
}

// The main pane for what the address says.
function fill(...children) {
  $("main").dataset.of = location.hash;
  $("main").replaceChildren(...children);
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
  fill(el("p", { className: "quiet", textContent: list.firstChild ? "Choose a file." : "This folder is empty." }));
}

function arrayRow(a) {
  return row(a.path || "(the array)", `${a.dtype} [${a.shape.join(", ")}]${a.state === "ok" ? "" : " – " + a.why}`, { file: state.file, path: a.path, tab: "data" },
    { "data-path": a.path });
}

// A node of the tree: an array leads to its data, other ones open.
function nodeItem(child, name = child.node.path.split("/").pop().replaceAll("~1", "/").replaceAll("~0", "~")) {
  const { node, length, array } = child;
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
  }, child => nodeItem(child));
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
  const items = [...arrays.arrays.map(arrayRow), ...nodes.found.filter(f => !f.array).map(f => nodeItem(f, f.node.path))];
  for (const f of items) f.firstChild.title ||= "";
  list.replaceChildren(el("li", {}, el("h2", { textContent: `Found: ${arrays.total + nodes.found.filter(f => !f.array).length}${nodes.complete ? "" : " and more"}` })), ...items);
}

// --- the main pane ------------------------------------------------------------------------------

function tab(label, next, pressed) {
  return el("button", { textContent: label, "aria-pressed": String(pressed), onclick: () => set(next) });
}

// The ways to show the elements, the usual one first.
function viewsOf(s) {
  const n = s.shape.length, views = [["table", "Table"]];
  if (isShown(s.dtype) && n >= 1) views.splice(isTime(s.dtype) ? 1 : 0, 0, ["line", "Line"]);
  if (isShown(s.dtype) && n >= 2) views.unshift(["image", "Image"]);
  return views;
}

async function showMain(mine) {
  if (state.path == null) return showInfo(mine);
  const query = { file: state.file, path: state.path };
  const got = await ask("array", { ...query, brief: state.tab === "attributes" ? 0 : 1 });
  if (mine !== turn) return;
  const a = got.array, ok = a.state === "ok", s = subject(got), views = ok ? viewsOf(s) : [], which = state.tab ?? "data";
  const view = views.find(([name]) => name === state.view)?.[0] ?? views[0]?.[0];
  const parts = [`${a.dtype} [${a.shape.join(", ")}]`, a.chunk && `chunks [${a.chunk.join(", ")}]`, a.codec, a.stored_nbytes != null && `${bytes(a.stored_nbytes)} stored`,
    a.ratio && `ratio ${a.ratio}`, a.masked && "masked"].filter(Boolean);
  const pane = el("div", { id: "pane" }), bar = el("div", { className: "bar" });
  bar.append(...views.map(([name, label]) => tab(label, { tab: null, view: name }, which === "data" && view === name)));
  if (ok) bar.append(tab("Chunks", { tab: "chunks" }, which === "chunks"), tab("Attributes", { tab: "attributes" }, which === "attributes"));
  bar.append(el("button", { textContent: "File", onclick: () => go({ file: state.file }) }));
  if (ok && which === "data" && got.fields.length)
    bar.append(chooser("field", "field", [["", "all"], ...got.fields.map(f => [f.name, f.name])], s.field?.name ?? "",
      name => set({ field: name, at: null, axes: null, rows: null, columns: null, view: null })));
  const focused = nameOf(document.activeElement);
  fill(el("h1", { textContent: a.path || state.file }), el("p", { className: "quiet", textContent: parts.join(" · ") }), bar, pane);
  if (!ok) pane.append(el("p", { className: "bad", textContent: a.why }));
  else if (which === "attributes") showAttributes(pane, got);
  const rest = !ok ? null : which === "chunks" ? showChunks(pane, query, got, mine) : which === "data" ? showData(pane, got, s, view, mine) : null;
  if (focused) [...$("main").querySelectorAll("button, input, select")].find(e => nameOf(e) === focused)?.focus({ preventScroll: true });
  await rest;
}

// Which part of the main pane an element is, so that its successor gets the focus.
const nameOf = e => ($("main").contains(e) && e !== $("main") ? e.id || e.textContent : null);

// A text as it is; else JSON, with lists of plain values in one line.
function pretty(v, pad = null) {
  const plain = x => x === null || typeof x !== "object", inner = (pad ?? "") + "  ";
  if (plain(v)) return typeof v === "string" && pad === null ? v : JSON.stringify(v);
  const [open, close] = Array.isArray(v) ? "[]" : "{}", parts = Array.isArray(v) ? v.map(x => pretty(x, inner)) : Object.entries(v).map(([k, x]) => `${JSON.stringify(k)}: ${pretty(x, inner)}`);
  return Object.values(v).every(plain) && parts.join(", ").length < 100 ? `${open}${parts.join(", ")}${close}` : `${open}\n${parts.map(t => inner + t).join(",\n")}\n${pad ?? ""}${close}`;
}

const cell = v => typeof v === "string" ? v : Array.isArray(v) ? `[${v.map(cell).join(", ")}]` : JSON.stringify(v);
const LABELS = { nbytes: "size", decoded_nbytes: "decoded", stored_nbytes: "stored", offset: "at byte" };
const label = key => LABELS[key] ?? key.replaceAll("_", " ");

function pairs(object, name = k => k) {
  return el("dl", {}, ...Object.entries(object).flatMap(([k, v]) => [el("dt", { textContent: name(k) }), el("dd", { textContent: pretty(v) })]));
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
  fill(el("h1", { textContent: state.file }), pairs({ ...rest, nbytes: bytes(rest.nbytes), decoded_nbytes: bytes(rest.decoded_nbytes), ...facts }, label),
    el("div", { className: "bar" }, download(), check, el("label", {}, deep, "decode every chunk")), found);
}

// A link cannot send the token, nor lead to a folder.
const download = () => el("a", { href: "files/" + encodePath(state.file), textContent: "Download", hidden: token != null });
const encodePath = name => name.split("/").map(encodeURIComponent).join("/");

async function verify(pane, deep) {
  pane.replaceChildren(el("p", { className: "quiet", textContent: "Checking…" }));
  const got = await ask("verify", { file: state.file, deep: deep ? 1 : 0 });
  if (!got.findings.length) return pane.replaceChildren(el("p", { textContent: "No findings." }));
  pane.replaceChildren(table(["severity", "code", "part", "offset", "text"], got.findings));
}

function table(keys, rows) {
  return el("div", { className: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...keys.map(k => el("th", { scope: "col", textContent: label(k) })))),
    el("tbody", {}, ...rows.map(r => el("tr", {}, ...keys.map(k => el("td", { className: typeof r[k] === "string" ? "text" : "", textContent: r[k] == null ? "" : cell(r[k]) })))))));
}

// --- chunks -------------------------------------------------------------------------------------

// Dark for well compressed, light for as large as its elements; special ones are grey.
function chunkColour(c) {
  if (c.error || c.state === "missing") return "#d0342c";
  if (c.state !== "data") return "#999";
  return `hsl(210 65% ${20 + 60 * Math.min(1, c.stored_nbytes / Math.max(1, c.decoded_nbytes))}%)`;
}

// How many chunks lie in a row of the map: those along the last axis, where there are about as many.
function mapWidth(chunks) {
  const above = c => String(c.box?.slice(0, -1)), n = chunks.findIndex(c => above(c) !== above(chunks[0])), side = Math.ceil(Math.sqrt(chunks.length));
  return n > side / 4 && n <= 64 && chunks[0].box?.length > 1 ? n : clamp(side, 1, 64);
}

async function showChunks(pane, query, got, mine) {
  const offset = Number(state.chunk ?? 0) || 0, page = await ask("chunks", { ...query, offset, limit: 1000 }), chunks = page.chunks;
  if (mine !== turn) return;
  if (!chunks.length) return pane.append(el("p", { className: "quiet", textContent: "The array has no chunks." }));
  const across = mapWidth(chunks), size = clamp(Math.floor(480 / across), 12, 40), down = Math.ceil(chunks.length / across);
  const canvas = el("canvas", { id: "map", width: across * size, height: down * size, role: "img", "aria-label": "chunks by ratio; the table has the same" }), g = canvas.getContext("2d");
  chunks.forEach((c, i) => {
    g.fillStyle = chunkColour(c);
    g.fillRect((i % across) * size, Math.floor(i / across) * size, size - 1, size - 1);
  });
  canvas.onmousemove = e => {
    const box = canvas.getBoundingClientRect(), x = Math.floor((e.clientX - box.left) / size), i = Math.floor((e.clientY - box.top) / size) * across + x;
    if (x < across && chunks[i]) say(chunkText(chunks[i]));
  };
  const rows = chunks.slice(0, PAGE).map(c => ({ ...c, run: c.run > 1 ? c.run : null, elements: c.box && c.box.map(b => b.join(":")).join(", "), ratio: c.stored_nbytes ? +(c.decoded_nbytes / c.stored_nbytes).toFixed(3) : null,
    why: c.why ?? c.error }));
  const keys = ["chunk", "run", "state", "elements", "codec", "stored_nbytes", "decoded_nbytes", "ratio", "offset", "member", "why"].filter(k => rows.some(r => r[k] != null));
  pane.append(el("p", { textContent: `${page.nchunk} chunk${page.nchunk === 1 ? "" : "s"}${offset ? `, from ${offset}` : ""}${rows.length < chunks.length ? `; the table has the first ${rows.length} of these` : ""}` }),
    canvas, el("p", { className: "quiet", textContent: "Dark: well compressed. Light: hardly smaller than its elements. Grey: nothing stored. Red: damaged or missing." }));
  if (offset > 0 || page.next != null)
    pane.append(el("div", { className: "bar" }, ...[[offset > 0, "First", null], [page.next != null, "Next", page.next]].map(([there, label, at]) =>
      el("button", { textContent: label, disabled: !there, onclick: () => set({ chunk: at }) }))));
  pane.append(table(keys, rows));
}

function chunkText(c) {
  return `chunk ${c.chunk}: ${c.error ?? c.state}, ${c.codec ?? ""}, ${c.stored_nbytes ?? "?"} of ${c.decoded_nbytes ?? "?"} bytes${c.why ? ", " + c.why : ""}`;
}

// --- elements -----------------------------------------------------------------------------------

// What is asked for: the array, or a field of its records, whose own axes come last.
function subject(got) {
  const field = got.fields.find(f => f.name === state.field) ?? null;
  const a = got.array;
  const step = field && field.name.replaceAll("~", "~0").replaceAll("/", "~1");
  return field ? { path: a.path ? `${a.path}/${step}` : step, dtype: field.dtype, shape: [...a.shape, ...field.shape], field } : { path: a.path, dtype: a.dtype, shape: a.shape };
}

const clamp = (v, low, high) => Math.min(high, Math.max(low, v));

// The cut: axes of the image (down, across), an index for each other axis, and ranges of the two.
function cutOf(shape) {
  const n = shape.length, ints = text => (text ?? "").split(",").filter(s => /^\d+$/.test(s)).map(Number);
  let [down, across] = ints(state.axes);
  if (!(down < n && across < n && down !== across)) [down, across] = [n - 2, n - 1];
  const at = ints(state.at), range = text => (/^\d+:\d+$/.test(text ?? "") ? text.split(":").map(Number) : null);
  const fit = (text, axis) => {
    const r = range(text), len = shape[axis] ?? 0;
    return r && r[0] < r[1] && r[1] <= len ? r : [0, len];
  };
  return { down, across, at: shape.map((len, k) => clamp(at[k] ?? 0, 0, Math.max(0, len - 1))), rows: fit(state.rows, down), columns: fit(state.columns, across) };
}

const length = r => r[1] - r[0];
const selection = parts => `[${parts.join(", ")}]`;
const isShown = dtype => /^(bool|u?int|float|complex|datetime64|timedelta64)/.test(dtype);
const isTime = dtype => /^(datetime64|timedelta64)/.test(dtype);

async function showData(pane, got, s, view, mine) {
  const cut = cutOf(s.shape), body = el("div", { id: "view" });
  pane.append(sliders(s.shape, cut, view, got.axes), body);
  if (s.shape.some(len => len === 0)) return body.append(el("p", { className: "quiet", textContent: "The array is empty." }));
  await ({ image: showImage, line: showLine, table: showTable })[view](body, s, cut, mine);
}

// A list to choose from, of [value, text]; by itself it changes the state's `key`.
function chooser(label, key, list, value, change = chosen => set({ [key]: chosen }, true)) {
  const c = el("select", { id: key }, ...list.map(([v, text]) => el("option", { value: v, textContent: text })));
  c.value = value;
  c.onchange = () => change(c.value);
  return el("label", {}, label, c);
}

// A slider for each axis that the view leaves, and which axes it shows.
function sliders(shape, cut, view, names) {
  const bar = el("div", { className: "bar" }), isLine = view === "line", shown = isLine ? [cut.across] : [cut.down, cut.across];
  const name = k => names?.[k] ?? `axis ${k}`, list = shape.map((len, k) => [k, `${name(k)} (${len})`]);
  const axis = (label, key, other) => chooser(label, key, list, cut[key], k => {
    const next = { ...cut, [key]: Number(k) };
    if (next.down === next.across) next[other] = cut[key];
    set({ axes: `${next.down},${next.across}`, rows: null, columns: null });
  });
  if (shape.length > 2 && !isLine) bar.append(axis("down", "down", "across"), axis("across", "across", "down"));
  else if (shape.length > 1 && isLine) bar.append(axis("along", "across", "down"));
  shape.forEach((len, k) => {
    if (shown.includes(k)) return;
    const props = { min: 0, max: Math.max(0, len - 1), "aria-label": name(k) };
    const slide = el("input", { type: "range", id: `slide${k}`, "data-axis": k, ...props }), number = el("input", { type: "number", id: `index${k}`, ...props });
    slide.value = number.value = cut.at[k];
    const move = value => set({ at: cut.at.map((v, i) => i === k ? clamp(Math.round(Number(value)) || 0, 0, len - 1) : v).join(",") }, true);
    slide.onchange = () => move(slide.value);
    slide.oninput = () => (number.value = slide.value);
    number.onchange = () => move(number.value);
    bar.append(el("label", {}, name(k), slide, number));
  });
  return bar;
}

// --- pictures -----------------------------------------------------------------------------------

const MAPS = ["viridis", "plasma", "inferno", "magma", "cividis", "gray", "gray_r", "turbo", "coolwarm"];
const SCALES = [["linear", "linear"], ["sqrt", "square root"], ["asinh", "asinh"], ["log", "logarithmic"]];
const REDUCES = [["extremes", "the most unusual"], ["mean", "the mean"], ["max", "the largest"], ["min", "the smallest"], ["sample", "the first"]];
const SPANS = [["", "99 % of the values"], ["0,100", "all values"]];
const BUDGETS = [1 << 26, 1 << 30]; // bytes to be read: for a picture at once, and then for a better one

// Pictures of the server, the first of few elements if all of them take long; `draw` gets each.
async function pictures(query, mine, draw) {
  for (const [i, max_nbytes] of BUDGETS.entries()) {
    let got = null;
    try {
      got = await ask("picture", { ...query, max_nbytes }, "picture");
    } catch (e) {
      if (e.status !== 413 || i === BUDGETS.length - 1) throw e;
    }
    if (mine !== turn) return;
    if (got) draw(got);
    const last = i === BUDGETS.length - 1 || (got && (got.facts.whole || query.reduce === "sample"));
    say(last ? "" : got ? "Reading more elements…" : "Reading…");
    if (last) return;
  }
}

const format = v => typeof v !== "number" ? String(v) : Number.isInteger(v) && Math.abs(v) < 1e9 ? String(v) : String(+v.toPrecision(6));

// Indices at round steps, as [pixels from the start, text].
function ticks(axis, apart) {
  const by = Math.abs(axis.step), least = by * Math.ceil(apart / axis.zoom), ten = 10 ** Math.floor(Math.log10(least));
  const each = [1, 2, 5, 10].map(k => k * ten).find(k => k >= least), last = axis.start + by * (axis.n - 1), list = [];
  for (let i = Math.ceil(axis.start / each) * each; i <= last; i += each)
    list.push([((i - axis.start) / by + (by === 1 ? 0.5 : 0)) * axis.zoom, i]);
  return list;
}

// The picture with indices of both axes, and what its colours mean. `turned`: axes change places.
function framed(got, turned) {
  const f = got.facts, ratio = devicePixelRatio || 1, [width, height] = turned ? [f.height, f.width] : [f.width, f.height];
  const [down, across] = turned ? [f.across, f.down] : [f.down, f.across];
  const canvas = el("canvas", { id: "image", width, height, role: "img", "aria-label": `image of ${down.n} rows and ${across.n} columns, values ${format(f.range[0])} to ${format(f.range[1])}` });
  const pixels = new Uint32Array(got.data), g = canvas.getContext("2d"), image = g.createImageData(width, height);
  new Uint32Array(image.data.buffer).set(turned ? pixels.map((_, i) => pixels[(i % width) * height + Math.floor(i / width)]) : pixels);
  g.putImageData(image, 0, 0);
  canvas.style.width = `${width / ratio}px`;
  const mark = (axis, side, apart) => ticks(axis, apart * ratio).map(([at, text]) => {
    const tick = el("span", { className: `tick ${side}`, textContent: text });
    tick.style[side === "down" ? "top" : "left"] = `${at / ratio}px`;
    return tick;
  });
  const frame = el("div", { className: "frame" }, canvas, ...mark(down, "down", 40), ...mark(across, "across", 60));
  const ramp = el("div", { className: "ramp" });
  ramp.style.background = `linear-gradient(to right, ${f.colours.join(", ")})`;
  return { canvas, frame, down, across, legend: el("div", { className: "legend" }, ramp, el("span", { textContent: format(f.limits[0]) }), el("span", { textContent: format(f.limits[1]) })) };
}

// The pixels that there are beside the panel and below `place`.
function room(place, left, most = 4096) {
  const main = $("main"), wide = main.clientWidth - left - (main.clientWidth > 700 ? 270 : 30), high = main.getBoundingClientRect().bottom - place.getBoundingClientRect().top - 50;
  return [clamp(Math.floor(wide), 200, most), clamp(Math.floor(high), 280, most)];
}

// What the picture shows, in words.
function told(f) {
  const count = (n, text) => n ? `${n} ${text}` : null, steps = f.down ? [f.down.step, f.across.step].map(Math.abs) : [Math.abs(f.across.step)];
  const boxed = Math.max(...steps) > 1, word = REDUCES.find(([name]) => name === f.reduce)?.[1];
  return [`values ${format(f.range[0])} to ${format(f.range[1])}`, count(f.missing, !f.down ? "missing or NaN" : "missing or NaN (magenta)"), count(f.infinite, "infinite"),
    boxed && (f.down ? `a pixel is ${word} of ${steps.join(" × ")} elements` : `each point spans ${steps[0]} elements`),
    boxed && !f.whole && "not all elements were read: zoom in to see more"].filter(Boolean).join(" · ");
}

const query = (s, parts) => ({ file: state.file, path: s.path, select: selection(parts) });

async function showImage(body, s, cut, mine) {
  const parts = [...cut.at], known = (list, value) => (list.some(([v]) => v === value) ? value : list[0][0]), ratio = devicePixelRatio || 1;
  parts[cut.down] = cut.rows.join(":");
  parts[cut.across] = cut.columns.join(":");
  const scale = known(SCALES, state.scale), map = MAPS.includes(state.map) ? state.map : MAPS[0], reduce = known(REDUCES, state.reduce), span = state.limits ?? state.span ?? "";
  const turned = cut.down > cut.across, pair = /^[^,]+,[^,]+$/.test(state.limits ?? "") ? state.limits : null;
  const low = el("input", { id: "low", type: "text", inputMode: "decimal" }), high = el("input", { id: "high", type: "text", inputMode: "decimal" });
  const words = el("p", { className: "quiet", id: "told" }), place = el("div", { className: "picture" }), legend = el("div"), kinds = chooser("a pixel shows", "reduce", REDUCES, reduce);
  low.onchange = high.onchange = () => set({ limits: low.value.trim() && high.value.trim() ? `${low.value.trim()},${high.value.trim()}` : null }, true);
  body.append(el("div", { className: "sides" }, place, el("div", { className: "panel" }, legend, chooser("scale", "scale", SCALES, scale), chooser("colours", "map", MAPS.map(m => [m, m]), map),
    chooser("limits", "span", [...SPANS, ...(pair ? [[span, "as given"]] : [])], span, v => set({ span: v, limits: null }, true)), el("label", {}, "first colour", low), el("label", {}, "last colour", high),
    kinds, zoomButtons(length(cut.rows) === s.shape[cut.down] && length(cut.columns) === s.shape[cut.across]), words)));
  const pixels = room(place, 70).map(v => Math.min(4096, Math.floor(v * ratio))), [width, height] = turned ? pixels.reverse() : pixels;
  zoom.cut = { rows: cut.rows, columns: cut.columns, shape: [s.shape[cut.down], s.shape[cut.across]] };
  const of = `${state.file}\n${s.path}`, last = showImage.last; // which stays until there is a new one
  if (last?.of === of) {
    last.frame.className = "frame old";
    last.canvas.id = "";
    place.append(last.frame);
  }
  const asked = { ...query(s, parts), as: "pixels", width, height, scale, map, reduce, ...(pair ? { limits: pair } : span ? { percentile: span } : {}) };
  await pictures(asked, mine, got => {
    const made = framed(got, turned);
    place.replaceChildren(made.frame);
    showImage.last = { of, ...made };
    legend.replaceChildren(made.legend);
    kinds.hidden = [made.down, made.across].every(a => Math.abs(a.step) === 1);
    [low.value, high.value] = got.facts.limits.map(format);
    words.textContent = told(got.facts) + (s.dtype.startsWith("complex") ? " · absolute values" : "");
    pointer(made, cut, where => look(s, cut, where));
  });
}

// The elements under the pointer, in words: asked for when it rests.
function look(s, cut, where) {
  clearTimeout(look.waiting);
  look.waiting = setTimeout(async () => {
    const mine = turn, parts = [...cut.at], one = where.every(r => length(r) === 1), at = where.map(r => (length(r) === 1 ? r[0] : r.join(":")));
    [parts[cut.down], parts[cut.across]] = at;
    try {
      const got = await ask(one ? "window" : "stat", query(s, parts));
      if (mine !== turn) return;
      say(`${selection(parts)}: ` + (one ? (got === null ? "missing" : pretty(got)) : `${format(got.min)} to ${format(got.max)}` +
        (got.nan ? `, ${got.nan} NaN` : "") + (got.masked ? `, ${got.masked} masked` : "")));
    } catch (e) {
      if (mine === turn) say(e.message, true);
    }
  }, 80);
}

// Where the pointer is; a rectangle that is dragged becomes the range of both axes.
function pointer({ canvas, frame, down, across }, cut, tell) {
  let from = null, box = null;
  const axes = [[down, "rows", "clientY", "top", "height"], [across, "columns", "clientX", "left", "width"]];
  const place = e => {
    const r = canvas.getBoundingClientRect();
    return axes.map(([a, , client, side, size]) => clamp(Math.floor((e[client] - r[side]) / r[size] * a.n), 0, a.n - 1));
  };
  const range = (k, a, b) => {
    const [axis, key] = axes[k], first = axis.start + Math.min(a, b) * axis.step;
    return [first, Math.min(axis.start + (Math.max(a, b) + 1) * axis.step, cut[key][1])];
  };
  canvas.onpointerdown = e => {
    from = place(e);
    canvas.setPointerCapture(e.pointerId);
  };
  canvas.onpointermove = e => {
    const to = place(e);
    tell(to.map((v, k) => range(k, v, v)));
    if (!from) return;
    if (!box) frame.append(box = el("div", { className: "box" }));
    axes.forEach(([a, , , side, size], k) => {
      const each = (k ? canvas.clientWidth : canvas.clientHeight) / a.n;
      box.style[side] = `${Math.min(from[k], to[k]) * each}px`;
      box.style[size] = `${(Math.abs(from[k] - to[k]) + 1) * each}px`;
    });
  };
  canvas.onpointerup = e => {
    const to = place(e), a = from;
    from = null;
    box?.remove();
    box = null;
    if (a && a.some((v, k) => Math.abs(v - to[k]) > 1)) set({ rows: range(0, a[0], to[0]).join(":"), columns: range(1, a[1], to[1]).join(":") });
  };
  canvas.onpointercancel = () => {
    from = null;
    box?.remove();
    box = null;
  };
  canvas.ondblclick = () => set({ rows: null, columns: null });
}

function zoomButtons(whole) {
  const zooms = [["−", "zoom out (-)", 2, whole], ["+", "zoom in (+)", 0.5, false]].map(([text, title, factor, disabled]) => el("button", { textContent: text, title, "aria-label": title, disabled, onclick: () => zoom(factor) }));
  return el("div", { className: "bar" }, ...zooms, el("button", { textContent: "Whole", title: "show all (0)", disabled: whole, onclick: () => set({ rows: null, columns: null }) }));
}

function zoom(factor) {
  if (!($("image") || $("plot")) || !zoom.cut) return;
  const { rows, columns, shape } = zoom.cut;
  const scaled = ([a, b], len) => {
    const half = Math.max(1, (b - a) * factor / 2), mid = (a + b) / 2;
    return `${Math.max(0, Math.floor(mid - half))}:${Math.min(len, Math.ceil(mid + half))}`;
  };
  set({ ...(rows ? { rows: scaled(rows, shape[0]) } : {}), columns: scaled(columns, shape[1]) }, true);
}

// --- lines and tables ---------------------------------------------------------------------------

// The smallest and the largest of each point's elements; one line where it has one element.
function drawLine(body, s, got, chosen) {
  const f = got.facts, v = new Float64Array(got.data), one = Math.abs(f.across.step) === 1, at = k => Array.from({ length: f.across.n }, (_, i) => (Number.isFinite(v[4 * i + k]) ? v[4 * i + k] : null));
  const x = Float64Array.from({ length: f.across.n }, (_, i) => f.across.start + i * f.across.step), data = one ? [x, at(0)] : [x, at(2), at(3)];
  const style = getComputedStyle(document.documentElement), soft = style.getPropertyValue("--soft"), line = style.getPropertyValue("--line"), mark = style.getPropertyValue("--mark");
  const axes = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } }, [width, height] = room(body, 0), series = label => ({ label, stroke: mark, width: 1, points: { show: f.across.n < 200 } });
  const plot = el("div", { id: "plot", role: "figure", "aria-label": `line, values ${format(f.range[0])} to ${format(f.range[1])}` }), name = s.field?.name || s.path || "value";
  body.replaceChildren(plot);
  new uPlot({ width, height, scales: { x: { time: false } },
    axes: [axes, { ...axes, size: 80, label: f.base ? `+ ${f.base}` : undefined, labelSize: f.base ? 20 : 0 }], cursor: { drag: { setScale: false } }, legend: { live: true },
    hooks: { setSelect: [u => chosen(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"))] },
    series: [{ label: "index" }, ...(one ? [series(name)] : [series("smallest"), series("largest")])], ...(one ? {} : { bands: [{ series: [2, 1], fill: mark }] }) }, data, plot);
}

async function showLine(body, s, cut, mine) {
  const axis = cut.across, len = s.shape[axis], range = cut.columns, parts = [...cut.at], words = el("p", { className: "quiet", id: "told" }), place = el("div");
  parts[axis] = range.join(":");
  zoom.cut = { rows: null, columns: range, shape: [1, len] };
  body.append(el("div", { className: "sides" }, place, el("div", { className: "panel" }, zoomButtons(length(range) === len), words)));
  place.ondblclick = () => set({ columns: null });
  [place.style.minWidth, place.style.minHeight] = room(place, 0).map(v => `${v}px`); // nothing moves once it is drawn
  const chosen = (a, b) => {
    const [from, to] = [clamp(Math.floor(a), range[0], range[1] - 1), clamp(Math.ceil(b) + 1, 1, range[1])];
    if (to - from > 1) set({ columns: `${from}:${to}` });
  };
  await pictures({ ...query(s, parts), as: "values", width: Math.max(200, room(place, 80)[0]) }, mine, got => {
    drawLine(place, s, got, chosen);
    words.textContent = told(got.facts) + (s.dtype.startsWith("complex") ? " · absolute values" : "");
  });
}

async function showTable(body, s, cut, mine) {
  const n = s.shape.length, top = clamp(Number(state.top ?? 0) || 0, 0, Math.max(0, (n > 1 ? s.shape[cut.down] : s.shape[0] ?? 1) - 1));
  const left = n > 1 ? clamp(Number(state.left ?? 0) || 0, 0, s.shape[cut.across] - 1) : 0, parts = [...cut.at];
  const down = n > 1 ? cut.down : 0;
  if (n > 0) parts[down] = `${top}:${top + ROWS}`;
  if (n > 1) parts[cut.across] = `${left}:${left + COLUMNS}`;
  let rows = await ask("window", { file: state.file, path: s.path, ...(n ? { select: selection(parts) } : {}) });
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
    el("div", { className: "scroll" }, el("table", { id: "table" }, el("thead", {}, el("tr", {}, el("th"), ...heads.map(h => el("th", { scope: "col", textContent: h })))),
      el("tbody", {}, ...rows.map((r, i) => el("tr", {}, el("th", { scope: "row", textContent: String(top + i) }),
        ...cells(r).map(v => el("td", { className: typeof v === "string" && !LONG.test(v) ? "text" : "", textContent: v === null ? "missing" : cell(v) }))))))));
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
  if ($("keys").open || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || !(e.key in KEYS)) return;
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
