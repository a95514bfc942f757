// The adjacency matrix in causal order, as a picture that holds any number of variables.
class HeatMap {
  constructor(canvas) {
    this.canvas = canvas;
    this.size = content.names.length;
    this.bounds = { x: 0, y: 0, width: this.size, height: this.size };
    this.at = new Map();
    for (let at = 0; at < count; at++) this.at.set(place[edges.source[at]] * this.size + place[edges.target[at]], at);
  }

  color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  show() {
    const ratio = window.devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const { scale, x, y } = view.fitted(this);
    pen.fillStyle = this.color("--panel");
    pen.fillRect(x, y, this.size * scale, this.size * scale);
    this.cross(pen, scale, x, y);
    const cell = Math.max(scale, 2.4);
    const paint = Object.fromEntries(["soft", "red", "green", "blue"].map((name) => [name, this.color(`--${name}`)]));
    for (let at = 0; at < count; at++) {
      if (!isShown(at)) continue;
      pen.fillStyle = paint[state.truth ? { [RIGHT]: "soft", [EXTRA]: "red", [REVERSED]: "green" }[verdicts[at]] : edges.directed[at] ? "blue" : "red"];
      pen.globalAlpha = state.shares || edges.partial ? 0.45 + 0.55 * Math.min(1, weight(at)) : 0.9;
      pen.fillRect(x + place[edges.target[at]] * scale, y + place[edges.source[at]] * scale, cell, cell);
    }
    pen.globalAlpha = 1;
    this.frame(pen, scale, x, y);
  }

  cross(pen, scale, x, y) {
    if (state.chosen === null) return;
    pen.fillStyle = this.color("--fill");
    const at = place[state.chosen], wide = Math.max(scale, 2);
    pen.fillRect(x, y + at * scale, this.size * scale, wide);
    pen.fillRect(x + at * scale, y, wide, this.size * scale);
  }

  frame(pen, scale, x, y) {
    pen.strokeStyle = this.color("--line");
    pen.strokeRect(x, y, this.size * scale, this.size * scale);
    pen.fillStyle = this.color("--soft");
    pen.font = "11px system-ui, sans-serif";
    if (scale >= 11) {
      pen.textAlign = "right";
      content.order.forEach((variable, at) => pen.fillText(shortened(content.names[variable], 14), x - 4, y + (at + 0.75) * scale));
      pen.textAlign = "left";
    } else {
      pen.fillText("↓ causes, → effects, both in causal order", Math.max(x, 4), Math.max(y - 5, 12));
    }
  }

  pairAt(event) {
    const box = this.canvas.getBoundingClientRect(), { scale, x, y } = view.fitted(this);
    const column = Math.floor((event.clientX - box.left - x) / scale), row = Math.floor((event.clientY - box.top - y) / scale);
    const inside = column >= 0 && row >= 0 && column < this.size && row < this.size;
    return inside ? { row, column, edge: this.nearest(row, column, Math.ceil(2 / scale)) } : null;
  }

  nearest(row, column, reach) {
    for (let away = 0; away <= reach; away++) {
      for (let i = -away; i <= away; i++) for (let j = -away; j <= away; j++) {
        const at = this.at.get((row + i) * this.size + column + j);
        if (at !== undefined && isShown(at)) return at;
      }
    }
    return null;
  }

  hover(event) {
    const tip = find("tip"), pair = this.pairAt(event);
    tip.hidden = pair === null;
    if (pair === null) return;
    const at = pair.edge;
    const [source, target] = at === null ? [content.order[pair.row], content.order[pair.column]] : [edges.source[at], edges.target[at]];
    tip.textContent = `${shortened(content.names[source], 40)} ${at === null ? "· no edge ·" : edges.directed[at] ? "→" : "–"} ${shortened(content.names[target], 40)}${at === null ? "" : noteOn(at)}`;
    tip.style.left = `${Math.min(event.offsetX + 14, this.canvas.clientWidth - 180)}px`;
    tip.style.top = `${event.offsetY + 14}px`;
  }

  picture() {
    const cells = [];
    for (let at = 0; at < count; at++) {
      if (isShown(at)) cells.push(draw("rect", { x: place[edges.target[at]], y: place[edges.source[at]], width: 1, height: 1, fill: edges.directed[at] ? "#0068a8" : "#b84a00" }));
    }
    return draw("svg", { xmlns: SVG, viewBox: `0 0 ${this.size} ${this.size}`, width: 1000, height: 1000 }, [draw("rect", { width: this.size, height: this.size, fill: "#f5f7f9" }), ...cells]);
  }
}
