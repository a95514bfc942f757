// The graph in layers: nodes and edges where the page's maker has put them, moved by pan and zoom.
class Network {
  constructor(svg, drawing) {
    this.svg = svg;
    this.drawing = drawing;
    this.bounds = this.measure();
    this.layer = draw("g");
    this.edges = drawing.courses.map((course, at) => this.edge(course, at));
    this.nodes = content.order.map((variable) => this.node(variable));
    this.layer.append(...this.edges, ...this.nodes);
    svg.append(this.arrowheads(), this.layer);
  }

  measure() {
    const { x, width, top, bottom } = this.drawing;
    const left = Math.min(...x.map((value, at) => value - width[at] / 2)), right = Math.max(...x.map((value, at) => value + width[at] / 2));
    return { x: left - 14, y: top, width: right - left + 28, height: bottom - top };
  }

  arrowheads() {
    // One for each colour: an SVG marker does not take its line's.
    const kinds = ["plain", "open", "right", "missing", "extra", "reversed"];
    return draw("defs", {}, kinds.map((kind) => draw("marker", { id: `head-${kind}`, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" }, [draw("path", { d: "M0 0.5 10 5 0 9.5z", class: `head ${kind}` })])));
  }

  edge(course, at) {
    const title = at < count ? `${nameOf(edges.source[at])} ${edges.directed[at] ? "→" : "–"} ${nameOf(edges.target[at])}${strength ? ", " + figure(strength[at]) : ""}` : "missing";
    return draw("path", { d: course }, [draw("title", { text: title })]);
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
    for (const node of this.nodes) {
      const variable = Number(node.getAttribute("data-variable"));
      const chosen = variable === state.chosen;
      node.setAttribute("class", `node${chosen ? " chosen" : ""}${state.chosen !== null && !near.has(variable) ? " faint" : ""}`);
      node.setAttribute("aria-pressed", String(chosen));
    }
  }

  style(element, at) {
    const missing = at >= count;
    const verdict = state.truth ? (missing ? "missing" : verdicts[at]) : null;
    const ends = missing ? content.truth.missing[at - count] : [edges.source[at], edges.target[at]];
    const visible = missing ? state.truth : isShown(at);
    const directed = missing ? missingMarks[at - count] : edges.directed[at] ? "→" : "–";
    const faint = state.chosen !== null && !ends.includes(state.chosen);
    const kind = verdict || (directed === "–" ? "open" : "");
    element.setAttribute("class", `edge ${kind}${faint ? " faint" : ""}`);
    element.setAttribute("stroke-width", missing || !edges.partial ? 1.5 : 0.8 + 2.6 * Math.min(1, Math.abs(strength[at])));
    element.toggleAttribute("hidden", !visible);
    for (const [end, mark] of [["marker-end", "→"], ["marker-start", "←"]]) {
      if (directed === mark) element.setAttribute(end, `url(#head-${kind || "plain"})`); else element.removeAttribute(end);
    }
  }
}

// The verdict on every found edge, and how every missing pair is joined in the truth.
const differing = new Map(content.truth ? content.truth.verdicts.map(([first, second, verdict]) => [`${first} ${second}`, verdict]) : []);
const verdicts = edges.source.map((source, at) => differing.get(`${source} ${edges.target[at]}`) || differing.get(`${edges.target[at]} ${source}`) || "right");
const missingMarks = content.truth ? content.truth.verdicts.filter((entry) => entry[2] === "missing").map((entry) => entry[3]) : [];
