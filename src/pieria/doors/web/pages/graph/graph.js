// The drawing: what the server tells of the graph, moved about by force-graph, with more on a click.
const place = document.getElementById("canvas");
const chosen = document.getElementById("chosen");
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const LABELS = 60;
const held = { nodes: new Map(), links: new Map() };
const shades = new Map();
let graph = null;
let over = null;

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

const linkKey = (link) => `${link.source} ${link.relation} ${link.target}`;

// Nodes that stay keep where they are.
function take(told, { anew }) {
  if (anew) {
    const wanted = new Set(told.nodes.map((node) => node.id));
    for (const id of [...held.nodes.keys()]) if (!wanted.has(id)) held.nodes.delete(id);
    held.links.clear();
  }
  for (const node of told.nodes) held.nodes.set(node.id, Object.assign(held.nodes.get(node.id) ?? {}, node));
  for (const link of told.links) held.links.set(linkKey(link), { ...link, key: linkKey(link) });
  draw();
}

// Where no graph is answered, what is drawn stays, and the page says that the server does not answer.
async function ask(path) {
  const answer = await fetch(path).catch(() => null);
  if (answer?.redirected) location.assign(answer.url);
  const isTold = answer?.ok && !answer.redirected;
  if (!isTold) document.dispatchEvent(new CustomEvent("htmx:error"));
  return isTold ? answer.json() : null;
}

function paint(node, canvas, scale) {
  const size = node.focus ? 7 : node.kind === "place" || node.kind === "entity" ? 5 : 4;
  canvas.beginPath();
  canvas.arc(node.x, node.y, size, 0, 2 * Math.PI);
  canvas.fillStyle = shade(node.kind);
  canvas.fill();
  if (node.focus || node === over) {
    canvas.lineWidth = 1.5 / scale;
    canvas.strokeStyle = colour("--ink");
    canvas.stroke();
  }
  if (node.focus || node === over || scale > 2.2 || held.nodes.size <= LABELS) {
    canvas.font = `${12 / scale}px ${letters}`;
    canvas.fillStyle = colour("--ink");
    const label = node.label || node.id;
    canvas.fillText(label.length > 32 ? `${label.slice(0, 31)}…` : label, node.x + size + 2 / scale, node.y + 4 / scale);
  }
}

function show(node) {
  chosen.hidden = false;
  chosen.querySelector("[data-kind]").textContent = node.kind;
  chosen.querySelector("[data-at]").textContent = node.at ? node.at.slice(0, 10) : "";
  chosen.querySelector("[data-label]").textContent = node.label || node.id;
  chosen.querySelector("[data-open]").href = node.to;
  const from = new URL(place.dataset.data.replace(/\/data$/, ""), location.href);
  from.searchParams.set("node", node.id);
  chosen.querySelector("[data-from]").href = from.pathname + from.search;
}

async function expand(node) {
  show(node);
  const path = new URL(place.dataset.data, location.href);
  path.searchParams.set("node", node.id);
  const told = await ask(path.pathname + path.search);
  if (!told) return;
  for (const each of told.nodes) each.focus = each.id === node.id;
  for (const each of held.nodes.values()) each.focus = false;
  take(told, { anew: false });
}

function draw() {
  graph ??= new ForceGraph(place)
    .nodeId("id")
    .nodeLabel(() => "")
    .nodeCanvasObject(paint)
    .nodePointerAreaPaint((node, shadeOf, canvas) => {
      canvas.fillStyle = shadeOf;
      canvas.beginPath();
      canvas.arc(node.x, node.y, 9, 0, 2 * Math.PI);
      canvas.fill();
    })
    .linkColor(() => colour("--edge"))
    .linkDirectionalArrowLength(3)
    .linkDirectionalArrowRelPos(1)
    .linkDirectionalArrowColor(() => colour("--edge"))
    .onNodeHover((node) => { over = node; })
    .onNodeClick(expand)
    .warmupTicks(calm ? 150 : 20)
    .cooldownTicks(calm ? 0 : 150)
    .onEngineStop(once(() => {
      graph.zoomToFit(calm ? 0 : 300, 40);
      place.dataset.ready = "yes";
    }));
  graph.graphData({ nodes: [...held.nodes.values()], links: [...held.links.values()].map((link) => ({ ...link })) });
}

function once(act) {
  let done = false;
  return () => {
    if (!done) act();
    done = true;
  };
}

async function fresh() {
  const source = document.getElementById("drawn")?.dataset.source;
  const told = source && await ask(source);
  if (told) take(told, { anew: true });
}

if (place && globalThis.ForceGraph) {
  new ResizeObserver(() => graph?.width(place.clientWidth).height(place.clientHeight)).observe(place);
  document.addEventListener("htmx:after:swap", fresh);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shades.clear());
  await fresh();
  graph?.width(place.clientWidth).height(place.clientHeight);
}
