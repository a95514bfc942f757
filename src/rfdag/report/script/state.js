// What the reader has chosen: a variable, a threshold, a view; and who wants to know when it changes.
const edges = content.edges;
const count = edges.source.length;
const strength = edges.partial || edges.coefficient;
const place = new Array(content.names.length);
content.order.forEach((variable, at) => { place[variable] = at; });
const state = { chosen: null, threshold: 0, truth: false };
const listeners = [];

// Said where the page holds some of the edges only.
const thinned = count < content.edges_in_all ? `This page holds ${count} of ${content.edges_in_all} edges, ${strength ? "the strongest" : "spread evenly"}. ` : "";

const isShown = (at) => !strength || Math.abs(strength[at]) >= state.threshold;

function change(values) {
  Object.assign(state, values);
  for (const listener of listeners) listener();
}

function choose(variable) {
  change({ chosen: variable === state.chosen ? null : variable });
  if (state.chosen !== null) find("graph").scrollIntoView({ block: "nearest" });
}

function neighbours(variable) {
  const found = { parents: [], children: [], open: [] };
  for (let at = 0; at < count; at++) {
    if (!isShown(at) || (edges.source[at] !== variable && edges.target[at] !== variable)) continue;
    const out = edges.source[at] === variable;
    const other = out ? edges.target[at] : edges.source[at];
    (edges.directed[at] ? (out ? found.children : found.parents) : found.open).push(other);
  }
  return found;
}
