// The picture of the graph: which of the two it is, what part of it is seen, and how it is searched and saved.
const view = {
  scale: 1, x: 0, y: 0, moved: false,
  // Scale and place of a picture in its element: fitted into it, then as the reader has moved it.
  fitted(picture) {
    const element = picture.svg || picture.canvas, { clientWidth: width, clientHeight: height } = element;
    const margin = picture.canvas ? 18 : 4, { bounds } = picture;
    const fit = Math.min((width - 2 * margin) / bounds.width, (height - 2 * margin) / bounds.height, picture.canvas ? 40 : 1.5);
    const scale = fit * view.scale;
    return { scale, x: width / 2 - (bounds.x + bounds.width / 2) * scale + view.x, y: height / 2 - (bounds.y + bounds.height / 2) * scale + view.y };
  },
};
const network = content.drawing ? new Network(find("network"), content.drawing) : null;
const heatMap = new HeatMap(find("map"));
let current = network || heatMap;

function look() {
  if (current === heatMap) heatMap.show();
  else {
    const { scale, x, y } = view.fitted(network);
    network.layer.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
  }
}

function zoom(factor, event) {
  const element = current.svg || current.canvas, box = element.getBoundingClientRect();
  const x = event ? event.clientX - box.left - box.width / 2 : 0, y = event ? event.clientY - box.top - box.height / 2 : 0;
  const scale = Math.min(60, Math.max(0.3, view.scale * factor)), ratio = scale / view.scale;
  Object.assign(view, { scale, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio });
  look();
}

function move(x, y) {
  view.x += x;
  view.y += y;
  look();
}

function fit() {
  Object.assign(view, { scale: 1, x: 0, y: 0 });
  look();
}

function followPointer(element) {
  let from = null;
  element.addEventListener("pointerdown", (event) => { from = event; view.moved = false; });
  element.addEventListener("pointermove", (event) => {
    if (from === null || !event.buttons) return;
    if (Math.abs(event.clientX - from.clientX) + Math.abs(event.clientY - from.clientY) < 3 && !view.moved) return;
    if (!view.moved) element.setPointerCapture(event.pointerId);
    view.moved = true;
    move(event.clientX - from.clientX, event.clientY - from.clientY);
    from = event;
  });
  element.addEventListener("pointerup", () => { from = null; setTimeout(() => { view.moved = false; }); });
  // The wheel scrolls the page, unless the reader is at the picture.
  element.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !element.contains(document.activeElement)) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), event);
  }, { passive: false });
  const keys = { "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), "0": fit, ArrowLeft: () => move(40, 0), ArrowRight: () => move(-40, 0), ArrowUp: () => move(0, 40), ArrowDown: () => move(0, -40), Escape: () => change({ chosen: null }) };
  element.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
}

// As high as the graph needs at the width it has, within reason.
function setHeight() {
  if (!network) return;
  const { bounds } = network, width = find("network").parentElement.clientWidth;
  const needed = bounds.height * Math.min(1.5, width / bounds.width) + 30;
  find("network").style.height = `${Math.max(220, Math.min(needed, 720))}px`;
}

function showPicture(wanted) {
  current = wanted;
  setHeight();
  find("network").toggleAttribute("hidden", current !== network);
  find("map").hidden = current !== heatMap;
  find("tip").hidden = true;
  find("show-graph").setAttribute("aria-pressed", String(current === network));
  find("show-map").setAttribute("aria-pressed", String(current === heatMap));
  fit();
  showLegend();
}

function showLegend() {
  const sample = (kind) => draw("svg", { class: "picture", viewBox: "0 0 34 12", "aria-hidden": "true" }, [draw("line", { x1: 1, y1: 6, x2: 33, y2: 6, class: `edge ${kind}`, "stroke-width": 2 })]);
  const entry = (kind, text) => make("span", {}, [sample(kind), text]);
  const entries = state.truth
    ? content.verdicts.filter((verdict) => verdict !== MISSING || current === network).map((verdict) => entry(verdictStyle(verdict), verdict))
    : [entry("", current === network ? "compelled arrow" : "row causes column, compelled"), entry("undirected", "undirected")];
  if (!state.truth && current === network && edges.close) entries.push(entry("close", "close call"), ...(edges.close.some((call, at) => call && !edges.directed[at]) ? [entry("undirected close", "undirected close call")] : []));
  const stronger = current === network ? "wider" : "stronger colour";
  if (state.shares) entries.push(make("span", { text: `${stronger}: in more of ${boot.runs} runs` }));
  else if (edges.partial) entries.push(make("span", { text: `${stronger}: larger partial correlation` }));
  if (state.shares && !state.truth && current === network && network.labels.length) entries.push(make("span", { text: "98/71: adjacent / this arrow, in % of the runs" }));
  find("legend").replaceChildren(...entries);
}

function showNeighbourhood() {
  const panel = find("neighbourhood");
  panel.hidden = state.chosen === null;
  if (state.chosen === null) return;
  const near = neighbours(state.chosen);
  const list = (title, variables) => make("div", {}, [make("h3", { text: `${title} (${variables.length})` }), make("ul", {}, variables.sort((i, j) => place[i] - place[j]).map((variable) => make("li", {}, [link(variable)])))]);
  const close = make("button", { type: "button", text: "Show all again", onclick: () => change({ chosen: null }) });
  panel.replaceChildren(
    make("p", {}, [make("strong", {}, [named(state.chosen)]), ` · place ${place[state.chosen] + 1} of ${content.order.length}${placesInWords(state.chosen)}`]),
    make("div", { class: "lists" }, [list("Causes", near.parents), list("Effects", near.children), list("Undirected", near.undirected)]), close);
}

function showThreshold() {
  let visible = 0;
  for (let at = 0; at < count; at++) visible += isShown(at);
  find("threshold-text").textContent = weighed() ? `≥ ${figure(state.threshold)}: ${visible} of ${counted(count, "edge")}` : "";
}

function setSlider() {
  const slider = find("threshold"), words = edges.partial ? "Least |partial correlation| of an edge that is shown" : "Least |coefficient|";
  slider.disabled = !weighed();
  slider.max = state.shares || edges.partial || !strength ? 1 : Math.max(...strength.map(Math.abs));
  slider.value = state.threshold;
  find("threshold-name").textContent = state.shares ? "Share of the runs" : "Strength";
  find("threshold-label").title = state.shares ? "Least share of the runs that have an edge which is shown" : strength ? words : "Strengths are not known for this input.";
}

function search() {
  const wanted = find("search").value.trim().toLowerCase();
  const found = wanted ? content.order.filter((variable) => content.names[variable].toLowerCase().includes(wanted)) : [];
  const buttons = found.slice(0, 20).map((variable) => make("button", { type: "button", class: "name", text: shortened(content.names[variable], 60), onclick: () => choose(variable) }));
  const more = found.length > 20 ? `and ${found.length - 20} more` : wanted && !found.length ? "No variable is called that." : "";
  find("matches").replaceChildren(...buttons, more);
  return found;
}

function saved() {
  if (current === heatMap) return heatMap.picture();
  const { bounds } = network;
  const copy = network.svg.cloneNode(true);
  copy.replaceChildren(draw("style", { text: find("picture-style").textContent }), draw("rect", { x: bounds.x, y: bounds.y, width: bounds.width, height: bounds.height, fill: "#ffffff" }), ...copy.childNodes);
  copy.querySelectorAll("[hidden]").forEach((element) => element.remove());
  copy.querySelectorAll("[transform]").forEach((element) => element.removeAttribute("transform"));
  for (const name of ["tabindex", "class", "id"]) copy.removeAttribute(name);
  return put(copy, { xmlns: SVG, viewBox: `${bounds.x} ${bounds.y} ${bounds.width} ${bounds.height}`, width: bounds.width, height: bounds.height });
}

const saveSvg = () => save(new Blob([new XMLSerializer().serializeToString(saved())], { type: "image/svg+xml" }), "graph.svg");

function pngOf(picture, done) {
  const width = Number(picture.getAttribute("width")), height = Number(picture.getAttribute("height"));
  const scale = Math.min(2, 8000 / Math.max(width, height));
  const image = new Image();
  image.onload = () => {
    const canvas = make("canvas", { width: Math.ceil(width * scale), height: Math.ceil(height * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(done, "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(picture))}`;
}

function startPicture() {
  for (const element of [find("network"), find("map")]) followPointer(element);
  find("map").addEventListener("pointermove", (event) => heatMap.hover(event));
  find("map").addEventListener("pointerleave", () => { find("tip").hidden = true; });
  find("map").addEventListener("click", (event) => {
    const pair = view.moved ? null : heatMap.pairAt(event);
    if (pair) choose(pair.edge === null ? content.order[pair.row] : edges.source[pair.edge]);
  });
  const buttons = { "zoom-in": () => zoom(1.25), "zoom-out": () => zoom(0.8), "zoom-fit": fit, "save-svg": saveSvg, "save-png": () => pngOf(saved(), (blob) => save(blob, "graph.png")), "show-graph": () => showPicture(network), "show-map": () => showPicture(heatMap) };
  for (const [id, act] of Object.entries(buttons)) find(id).addEventListener("click", act);
  find("search").addEventListener("input", search);
  find("search").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const [first] = search();
    if (first !== undefined && first !== state.chosen) choose(first);
  });
  find("shares-choice").hidden = boot === null;
  find("show-shares").checked = state.shares;
  find("show-shares").addEventListener("change", (event) => { change({ shares: event.target.checked, threshold: 0 }); setSlider(); });
  setSlider();
  find("threshold").addEventListener("input", (event) => change({ threshold: Number(event.target.value) }));
  find("truth-choice").hidden = content.truth === null;
  find("show-truth").addEventListener("change", (event) => change({ truth: event.target.checked }));
  find("show-graph").disabled = network === null;
  find("graph-hint").textContent = `${network ? "" : `With ${content.names.length} variables the graph is shown as a heat map; choose a variable to see its neighbours. `}${thinned}Drag to move; + and −, or the wheel after a click, zoom; arrow keys move, 0 fits, Esc shows all again.`;
  listeners.push(() => { if (network) network.show(); }, look, showLegend, showNeighbourhood, showThreshold);
  window.addEventListener("resize", () => { setHeight(); look(); });
  for (const query of ["(prefers-color-scheme: dark)", "print"]) window.matchMedia(query).addEventListener("change", look);
  showPicture(current);
}
