// The health of the data: findings in words, columns in numbers.
const COLUMNS = { taken: "taken for", remarks: "remarks", mean: "mean", sd: "standard deviation", lowest: "lowest", highest: "highest", skewness: "skewness", kurtosis: "excess kurtosis", distinct: "different values", explained: "explained by the others" };
const IN_WORDS = ["taken", "remarks"];

function showHealth() {
  const health = content.health;
  find("findings").append(...health.findings.map(([kind, text]) => make("li", { class: kind, text })));
  const body = find("health-body");
  if (health.pairs.length) {
    body.append(make("h3", { text: "Largest correlations" }), tableOf(["pair", "", ["correlation", 1]], health.pairs.map(([first, second, value]) => [link(first), link(second), figure(value)])));
  }
  // What is the same for all columns stands above the table.
  const telling = (name) => !IN_WORDS.includes(name) || new Set(health.columns[name]).size > 1;
  const known = Object.keys(COLUMNS).filter((name) => health.columns[name] && telling(name));
  if (!known.length) {
    body.append(make("p", { class: "hint", text: "Means and spreads are not known: the moments were not kept with this result." }));
    return;
  }
  const variables = health.columns.variable;
  const cell = (name, at) => {
    const value = health.columns[name][at];
    if (IN_WORDS.includes(name)) return value && make("span", { class: "phrases", text: shown(value) });
    if (name === "distinct" && value === health.columns.distinct_up_to) return `${figure(value)} or more`;
    return name === "explained" ? `${(100 * value).toFixed(1)} %` : figure(value);
  };
  body.append(make("h3", { text: "Columns" }));
  if (health.understood) body.append(make("p", { class: "hint", text: `${health.understood}.` }));
  if (variables.length < health.columns_in_all) body.append(make("p", { class: "hint", text: `The ${variables.length} most conspicuous of ${health.columns_in_all}.` }));
  body.append(tableOf(["variable", ...known.map((name) => (IN_WORDS.includes(name) ? COLUMNS[name] : [COLUMNS[name], 1]))], variables.map((variable, at) => [link(variable), ...known.map((name) => cell(name, at))])));
  if (health.left_out.length) {
    body.append(make("h3", { text: "Columns left out" }), tableOf(["column", "taken for", "what was done"], health.left_out.map((cells) => cells.map(shown))));
  }
}
