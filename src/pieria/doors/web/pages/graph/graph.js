// The drawing: what the server tells of the graph, moved about by force-graph, with more on a click.
const place = document.getElementById("canvas");
const chosen = document.getElementById("chosen");
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const FEW = 60;
const NAMED = 12;
const ARROWS = 1000;
const CLOSE = 2.2;
const GROWN = 2;
const held = new Map();
const shades = new Map();
let graph = null;
let over = null;
let marked = null;
let back = null;
let fits = false;
let came = [];
let ranked = [];
let ties = 0;

// What a canvas paints with has to be worked out: by an element that is painted so, in the light of the page.
function colour(name, kind = "") {
  const key = name + kind;
  if (!shades.has(key)) {
    const probe = document.createElement("span");
    probe.className = kind && `kind-${kind}`;
    probe.style.color = `var(${name})`;
    place.parentElement.append(probe);
    shades.set(key, getComputedStyle(probe).color);
    probe.remove();
  }
  return shades.get(key);
}

const shade = (kind) => colour("--node", kind);
const letters = getComputedStyle(document.body).fontFamily;

const drawn = () => document.getElementById("drawn");

// Nodes that stay keep where they are; one that comes begins beside what it is tied to.
function take(told) {
  const wanted = new Set(told.nodes.map((node) => node.id));
  for (const id of [...held.keys()]) if (!wanted.has(id)) held.delete(id);
  came = [...wanted].filter((id) => !held.has(id) || came.includes(id));
  for (const node of told.nodes) held.set(node.id, Object.assign(held.get(node.id) ?? {}, node));
  for (const link of told.links) {
    const [from, to] = [held.get(link.source), held.get(link.target)];
    beside(from, to);
    beside(to, from);
  }
  ties = told.links.length;
  ranked = byTies(told.links);
  draw(told.links);
}

// That on which most hangs comes first.
function byTies(links) {
  const tied = new Map([...held.keys()].map((id) => [id, 0]));
  for (const end of links.flatMap((link) => [link.source, link.target])) tied.set(end, tied.get(end) + 1);
  return [...tied.keys()].sort((one, other) => tied.get(other) - tied.get(one)).map((id) => held.get(id));
}

function beside(node, other) {
  if (node.x !== undefined || other.x === undefined) return;
  const turn = 2 * Math.PI * Math.random();
  node.x = other.x + 20 * Math.cos(turn);
  node.y = other.y + 20 * Math.sin(turn);
}

// Where no graph is answered, what is drawn stays, and the page says that the server does not answer.
async function ask(path) {
  const answer = await fetch(path).catch(() => null);
  if (answer?.redirected) location.assign(answer.url);
  const isTold = answer?.ok && !answer.redirected;
  if (!isTold) document.dispatchEvent(new CustomEvent("htmx:error"));
  return isTold ? answer.json() : null;
}

// From closer one sees more, not the same in large: from some scale on nodes and arrows grow no more.
const grown = (scale) => Math.min(1, GROWN / scale);
const sizeOf = (node, scale) => (node.focus ? 7 : node.kind === "place" || node.kind === "entity" ? 5 : 4) * grown(scale);
const stands = (node) => node.focus || node === over || node.id === marked;
const isBeside = (one, other) => one.right < other.left || other.right < one.left || one.bottom < other.top || other.bottom < one.top;

const around = (node) => ({ left: node.x, top: node.y, right: node.x, bottom: node.y });

function inView() {
  const [from, to] = [graph.screen2GraphCoords(0, 0), graph.screen2GraphCoords(graph.width(), graph.height())];
  return { left: from.x, top: from.y, right: to.x, bottom: to.y };
}

function paint(node, canvas, scale) {
  canvas.beginPath();
  canvas.arc(node.x, node.y, sizeOf(node, scale), 0, 2 * Math.PI);
  canvas.fillStyle = shade(node.kind);
  canvas.fill();
  if (stands(node)) {
    canvas.lineWidth = 1.5 / scale;
    canvas.strokeStyle = colour("--ink");
    canvas.stroke();
  }
}

// Of many, those have a name that most hangs on; of few, all. None lies over another: it stands on the other side then, or waits
// until somebody points at it or comes closer.
function write(canvas, scale) {
  const some = ranked.length <= FEW || scale > CLOSE ? ranked : ranked.slice(0, NAMED);
  const view = inView();
  const written = [];
  canvas.font = `${12 / scale}px ${letters}`;
  canvas.fillStyle = colour("--ink");
  for (const node of new Set([...ranked.filter(stands), ...some])) {
    if (isBeside(around(node), view)) continue;
    const label = node.label || node.id;
    const cut = label.length > 32 ? `${label.slice(0, 31)}…` : label;
    const [off, width] = [sizeOf(node, scale) + 2 / scale, canvas.measureText(cut).width];
    const sides = [node.x + off, node.x - off - width].map((left) => (
      { left, top: node.y - 6 / scale, right: left + width, bottom: node.y + 6 / scale }));
    const side = sides.find((each) => written.every((other) => isBeside(each, other))) ?? (stands(node) ? sides[0] : null);
    if (!side) continue;
    written.push(side);
    canvas.fillText(cut, side.left, node.y + 4 / scale);
  }
}

function show(node) {
  marked = node.id;
  chosen.hidden = false;
  chosen.querySelector("[data-kind]").textContent = node.kind;
  const at = chosen.querySelector("[data-at]");
  [at.textContent, at.title, at.dateTime] = [node.day ?? "", node.time ?? "", node.at ?? ""];
  chosen.querySelector("[data-label]").textContent = node.label || node.id;
  chosen.querySelector("[data-more]").hidden = !(node.open && node.more);
  chosen.querySelector("[data-open]").href = node.to;
  const from = new URL(drawn().dataset.alone, location.href);
  from.searchParams.set("node", node.id);
  chosen.querySelector("[data-from]").href = from.pathname + from.search;
}

// What is around it comes to what is shown: to the drawing, the table, and the address.
function further(key) {
  const here = new URL(drawn().dataset.here, location.href);
  if (here.searchParams.getAll("around").includes(key)) return;
  here.searchParams.append("around", key);
  fits = true;
  const path = here.pathname + here.search;
  if (globalThis.htmx) htmx.ajax("GET", path, { target: "#ties", push: "true" });
  else location.assign(path);
}

function expand(node) {
  show(node);
  if (!node.open || node.more) further(node.id);
}

function draw(links) {
  graph ??= new ForceGraph(place)
    .nodeId("id")
    .nodeLabel(() => "")
    .nodeCanvasObject(paint)
    .onRenderFramePost(write)
    .nodeRelSize(1)
    .nodeVal((node) => sizeOf(node, graph.zoom()) ** 2)
    .nodePointerAreaPaint((node, shadeOf, canvas, scale) => {
      canvas.fillStyle = shadeOf;
      canvas.beginPath();
      canvas.arc(node.x, node.y, 9 * grown(scale), 0, 2 * Math.PI);
      canvas.fill();
    })
    .linkColor(() => colour("--edge"))
    .linkDirectionalArrowLength(() => (ties <= ARROWS || graph.zoom() > CLOSE ? 3 * grown(graph.zoom()) : 0))
    .linkDirectionalArrowRelPos(1)
    .linkDirectionalArrowColor(() => colour("--edge"))
    .onNodeHover((node) => { over = node; })
    .onNodeClick(expand)
    .warmupTicks(calm ? 150 : 20)
    .cooldownTicks(calm ? 0 : 150)
    .onEngineStop(() => {
      // Whoever moved the view keeps it, unless what they asked for since lies outside.
      const view = inView();
      if (!fits || came.some((id) => isBeside(around(held.get(id)), view))) graph.zoomToFit(calm ? 0 : 300, 40);
      [fits, came] = [true, []];
      place.dataset.ready = "yes";
    });
  // Half the work where there are thousands; of few, two would come to lie on one another.
  graph.d3Force("charge").theta(ties <= ARROWS ? 0.7 : 1.4).distanceMax(400);
  graph.graphData({ nodes: [...held.values()], links });
}

// Of several answers under way, the one that was asked for last counts.
async function fresh() {
  const source = drawn()?.dataset.source;
  const told = source && await ask(source);
  if (told && source === drawn()?.dataset.source) take(told);
}

// Whoever asked for more in the table goes on from where they were.
function swapped() {
  if (back) [...document.querySelectorAll("#ties a.words")].find((link) => link.getAttribute("href") === back)?.focus();
  back = null;
  fresh();
}

if (place && globalThis.ForceGraph) {
  new ResizeObserver(() => graph?.width(place.clientWidth).height(place.clientHeight)).observe(place);
  document.addEventListener("htmx:after:swap", swapped);
  document.getElementById("shown").addEventListener("input", () => { fits = false; });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-further]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    back = link.previousElementSibling.getAttribute("href");
    further(link.dataset.further);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    shades.clear();
    graph?.nodeCanvasObject(paint);
  });
  await fresh();
  graph?.width(place.clientWidth).height(place.clientHeight);
}
