// The elimination, replayed: the moral graph of what remains, what a removal takes away and fills in, and its scores.
let played = content.playback[0];
const steps = played ? played.node.length : 0;
const key = (i, j) => (i < j ? i * content.names.length + j : j * content.names.length + i);
let step = 0, timer = null, circle = null, frame = null;
const TRACK_NOTES = {
  Answer: "This is the elimination along the order above, which is the answer. The search refined this order as a whole; it did not find it step by step.",
  "Before refinement": "This is the elimination that won, before its order was refined: it ends in another order than the answer above.",
};

// The graph before a step, from the first one forwards.
function graphBefore(wanted) {
  const graph = new Map(played.initial.map(([i, j]) => [key(i, j), [i, j]]));
  for (let at = 0; at < wanted; at++) {
    for (const [id, [i, j]] of graph) if (i === played.node[at] || j === played.node[at]) graph.delete(id);
    for (const [i, j] of played.removed[at]) graph.delete(key(i, j));
    for (const [i, j] of played.filled[at]) graph.set(key(i, j), [i, j]);
  }
  return graph;
}

function placeOnCircle() {
  const size = 500, crowded = steps > 60, radius = crowded ? 385 : 360;
  const spots = new Map();
  played.node.forEach((variable, at) => {
    const angle = -Math.PI / 2 - (2 * Math.PI * (at + 0.5)) / steps;
    spots.set(variable, { x: size + radius * Math.cos(angle), y: size + radius * Math.sin(angle), angle });
  });
  return spots;
}

// A square around the circle that leaves room for the longest name.
function frameOf(svg) {
  const { x, y, width, height } = svg.getBBox(), half = Math.max(500, 500 - x, 500 - y, x + width - 500, y + height - 500) + 4;
  return `${500 - half} ${500 - half} ${2 * half} ${2 * half}`;
}

function drawMoral() {
  circle = circle || placeOnCircle();
  const leaving = played.node[step], gone = new Set(played.node.slice(0, step));
  const removed = new Set(played.removed[step].map(([i, j]) => key(i, j)));
  const links = [...graphBefore(step)].map(([id, [i, j]]) => ({ i, j, kind: i === leaving || j === leaving ? "own" : removed.has(id) ? "removed" : "" }));
  links.push(...played.filled[step].map(([i, j]) => ({ i, j, kind: "filled" })));
  // What changes is drawn over the rest.
  links.sort((a, b) => a.kind.length - b.kind.length);
  const font = Math.max(9, Math.min(21, 1500 / steps)), dot = Math.max(4, Math.min(11, 700 / steps));
  const lines = links.map(({ i, j, kind }) => { const a = circle.get(i), b = circle.get(j); return draw("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: `moral-edge ${kind}` }); });
  const nodes = [...circle].flatMap(([variable, spot]) => {
    const kind = variable === leaving ? "leaving" : gone.has(variable) ? "gone" : "", flip = Math.cos(spot.angle) < -0.001;
    const degrees = (spot.angle * 180) / Math.PI + (flip ? 180 : 0);
    const label = draw("text", { class: `mark ${kind}`, "text-anchor": flip ? "end" : "start", transform: `translate(${spot.x} ${spot.y}) rotate(${degrees}) translate(${(flip ? -1 : 1) * (dot + 6)} ${font * 0.35})`, text: shortened(content.names[variable], 12) });
    label.style.fontSize = `${font}px`;
    return [draw("circle", { cx: spot.x, cy: spot.y, r: variable === leaving ? dot * 1.5 : dot, class: `dot ${kind}` }, [draw("title", { text: nameOf(variable) })]), label];
  });
  find("moral").replaceChildren(...lines, ...nodes);
  if (frame === null) frame = frameOf(find("moral"));
  find("moral").setAttribute("viewBox", frame);
}

function showStep() {
  const leaving = played.node[step];
  const ties = played.title !== "Answer" && played.ties[step] > 1 ? ` ${played.ties[step]} choices were equally good.` : "";
  const certified = played.removal[step] > 0 ? " Vanishing edges are evidence that it is a sink of what remains." : "";
  find("step-text").replaceChildren(`Step ${step + 1} of ${steps}: `, make("strong", {}, [named(leaving)]), ` is removed. R = ${played.removal[step]} (${played.removal[step] === 1 ? "edge vanishes" : "edges vanish"}), F = ${played.fill[step]} (filled in), D = ${played.degree[step]} (${played.degree[step] === 1 ? "neighbour" : "neighbours"}).${certified}${ties}`);
}

function go(wanted) {
  step = Math.max(0, Math.min(steps - 1, wanted));
  find("step").value = step;
  find("step").setAttribute("aria-valuetext", `step ${step + 1} of ${steps}, ${nameOf(played.node[step])}`);
  showStep();
  if (played.initial) drawMoral();
  const body = find("step-table").tBodies[0], before = body.querySelector(".now");
  if (before) before.classList.remove("now");
  const row = body.rows[step];
  if (!row) return;
  row.classList.add("now");
  const box = find("step-table").parentElement;
  if (row.offsetTop < box.scrollTop + 40 || row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = row.offsetTop - box.clientHeight / 2;
}

function play() {
  if (timer) { clearInterval(timer); timer = null; } else {
    if (step === steps - 1) go(0);
    timer = setInterval(() => { go(step + 1); if (step === steps - 1) play(); }, Math.max(120, Math.min(1200, 24000 / steps)));
  }
  find("step-play").textContent = timer ? "Pause" : "Play";
}

function showTrack() {
  const hint = [
    "Variables are removed one after the other, sinks first; the order is read backwards. Before each removal, two remaining variables are adjacent if they depend on each other given all other remaining ones.",
    TRACK_NOTES[played.title] || "",
    played.by === "dag" ? "What depends on what is read off the DAG that was found, as the data are not at hand." : "",
    played.initial ? "" : `The edges of each step are recorded up to 200 variables. There are ${content.names.length} here, so that only the scores are shown.`,
  ];
  find("player-hint").textContent = hint.filter(Boolean).join(" ");
  const columns = ["removal", "fill", "degree", ...(played.title === "Answer" ? [] : ["ties"]), "threshold"];
  const titles = { removal: "R", fill: "F", degree: "D" };
  const head = ["", "removed", ...columns.map((name) => titles[name] || name)].map((title, at) => make("th", { scope: "col", class: at > 1 && "number", text: title }));
  const rows = played.node.slice(0, 2000).map((variable, at) => make("tr", {}, [make("td", { class: "number", text: at + 1 }), make("td", {}, [make("button", { type: "button", class: "link name", text: shortened(content.names[variable], 40), "aria-label": `Go to step ${at + 1}, ${nameOf(variable)}`, onclick: () => go(at) })]), ...columns.map((name) => make("td", { class: "number", text: figure(played[name][at]) }))]));
  find("step-table").replaceChildren(make("thead", {}, [make("tr", {}, head)]), make("tbody", {}, rows));
}

// Another elimination, at the same step.
function choosePlayed(track) {
  if (timer) play();
  played = track;
  circle = frame = null;
  for (const button of find("tracks").children) button.setAttribute("aria-pressed", String(button.textContent === track.title));
  showTrack();
  go(step);
}

function startPlayer() {
  if (!steps) {
    find("player-hint").textContent = "No elimination was recorded for this result.";
    for (const part of find("player").querySelectorAll(".controls, .step-text, .player, .legend")) part.remove();
    return;
  }
  if (!played.initial) { find("moral").remove(); document.querySelector(".player").classList.add("alone"); }
  else find("moral-legend").append(...[["own", "edges of the variable that leaves"], ["removed", "vanish with it"], ["filled", "filled in"]].map(([kind, text]) => make("span", {}, [draw("svg", { viewBox: "0 0 34 12", "aria-hidden": "true" }, [draw("line", { x1: 1, y1: 6, x2: 33, y2: 6, class: `moral-edge ${kind}` })]), text])));
  find("tracks").hidden = content.playback.length < 2;
  find("tracks").append(...content.playback.map((track) => make("button", { type: "button", text: track.title, "aria-pressed": String(track === played), onclick: () => choosePlayed(track) })));
  showTrack();
  find("step").max = steps - 1;
  find("step").addEventListener("input", (event) => go(Number(event.target.value)));
  const buttons = { "step-first": () => go(0), "step-back": () => go(step - 1), "step-forward": () => go(step + 1), "step-last": () => go(steps - 1), "step-play": play };
  for (const [id, act] of Object.entries(buttons)) find(id).addEventListener("click", act);
  go(0);
}
