// The graph in layers: nodes and edges at the coordinates of the drawing, moved by pan and zoom.
class Network {
  constructor(svg, drawing) {
    this.svg = svg;
    this.drawing = drawing;
    this.bounds = this.measure();
    this.layer = draw("g");
    this.edges = drawing.paths.map((path, at) => this.edge(path, at));
    this.nodes = content.order.map((variable) => this.node(variable));
    this.labels = boot && drawing.edge_labels ? drawing.edge_labels.map((point, at) => this.label(point, at)) : [];
    this.layer.append(...this.edges, ...this.labels, ...this.nodes);
    svg.append(this.arrowheads(), this.layer);
  }

  measure() {
    const [left, right, top, bottom] = this.drawing.extent, margin = 14;
    return { x: left - margin, y: top - margin, width: right - left + 2 * margin, height: bottom - top + 2 * margin };
  }

  arrowheads() {
    // One for each colour: an SVG marker does not take its line's.
    const kinds = ["plain", "undirected", ...VERDICT_STYLES];
    return draw("defs", {}, kinds.map((kind) => draw("marker", { id: `head-${kind}`, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" }, [draw("path", { d: "M0 0.5 10 5 0 9.5z", class: `head ${kind}` })])));
  }

  edge(path, at) {
    const found = at < count, [source, target] = found ? [edges.source[at], edges.target[at]] : content.truth.missing[at - count];
    const arrow = found ? (edges.directed[at] ? "→" : "–") : missingMarks[at - count];
    const close = found && edges.close && edges.close[at] ? `; close call: ${edges.close[at][0]}, ${figure(edges.close[at][1])}` : "";
    const note = found ? noteOn(at) + close : `, ${MISSING}`;
    return draw("path", { d: path }, [draw("title", { text: `${nameOf(source)} ${arrow} ${nameOf(target)}${note}` })]);
  }

  label([x, y], at) {
    const share = Math.round(100 * boot.adjacent[at]);
    return draw("text", { x, y: y + 3.4, "text-anchor": "middle", text: edges.directed[at] ? `${share}/${Math.round(100 * boot.this_way[at])}` : share });
  }

  node(variable) {
    const { x, y, width, height, label: labels } = this.drawing;
    const box = draw("rect", { x: x[variable] - width[variable] / 2, y: y[variable] - height / 2, width: width[variable], height, rx: 7 });
    const label = draw("text", { x: x[variable], y: y[variable] + 4.2, "text-anchor": "middle", text: shown(labels[variable]) });
    const act = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(variable); } };
    return draw("g", { tabindex: 0, role: "button", "aria-label": nameOf(variable), "data-variable": variable, onclick: () => { if (!view.moved) choose(variable); }, onkeydown: act }, [draw("title", { text: nameOf(variable) }), box, label]);
  }

  show() {
    const near = new Set([state.chosen]);
    if (state.chosen !== null) Object.values(neighbours(state.chosen)).flat().forEach((variable) => near.add(variable));
    if (state.truth) content.truth.missing.filter((pair) => pair.includes(state.chosen)).flat().forEach((variable) => near.add(variable));
    this.edges.forEach((element, at) => this.style(element, at));
    this.labels.forEach((label, at) => {
      const faint = state.chosen !== null && edges.source[at] !== state.chosen && edges.target[at] !== state.chosen;
      label.setAttribute("class", `share${edges.directed[at] ? "" : " undirected"}${faint ? " faint" : ""}`);
      label.toggleAttribute("hidden", !state.shares || state.truth || !isShown(at));
    });
    for (const node of this.nodes) {
      const variable = Number(node.getAttribute("data-variable"));
      const chosen = variable === state.chosen;
      node.setAttribute("class", `node${chosen ? " chosen" : ""}${state.chosen !== null && !near.has(variable) ? " faint" : ""}`);
      node.setAttribute("aria-pressed", String(chosen));
    }
  }

  style(element, at) {
    const missing = at >= count;
    const verdict = state.truth ? verdictStyle(missing ? MISSING : verdicts[at]) : null;
    const ends = missing ? content.truth.missing[at - count] : [edges.source[at], edges.target[at]];
    const visible = missing ? state.truth : isShown(at);
    const directed = missing ? missingMarks[at - count] : edges.directed[at] ? "→" : "–";
    const faint = state.chosen !== null && !ends.includes(state.chosen);
    const kind = verdict || (directed === "–" ? "undirected" : "");
    const close = !verdict && !missing && edges.close && edges.close[at] ? " close" : "";
    element.setAttribute("class", `edge ${kind}${close}${faint ? " faint" : ""}`);
    const scaled = !missing && (state.shares || edges.partial) ? Math.min(1, weight(at)) : null;
    element.setAttribute("stroke-width", scaled === null ? 1.5 : 0.8 + 2.6 * scaled);
    element.setAttribute("stroke-opacity", state.shares && scaled !== null ? 0.3 + 0.7 * scaled : 1);
    element.toggleAttribute("hidden", !visible);
    for (const [end, mark] of [["marker-end", "→"], ["marker-start", "←"]]) {
      if (directed === mark) element.setAttribute(end, `url(#head-${kind || "plain"})`); else element.removeAttribute(end);
    }
  }
}

// The verdict on every found edge, and how the ends of every missing edge are adjacent in the truth.
const differing = new Map(content.truth ? content.truth.verdicts.map(([first, second, verdict]) => [`${first} ${second}`, verdict]) : []);
const verdicts = edges.source.map((source, at) => differing.get(`${source} ${edges.target[at]}`) || differing.get(`${edges.target[at]} ${source}`) || RIGHT);
const missingMarks = content.truth ? content.truth.verdicts.filter((entry) => entry[2] === MISSING).map((entry) => entry[3]) : [];
