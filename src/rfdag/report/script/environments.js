// Several environments: what each targets, what the targets do there, and which other variables fit worst.
function showEnvironments() {
  const found = content.environments, section = find("environments");
  section.hidden = !found;
  find("environments-link").hidden = !found;
  if (!found) return;
  const body = find("environments-body");
  body.append(make("p", { text: `The rows come from ${counted(found.all, "environment")}. Targets of interventions were ${found.found ? "found with the graph" : "given"}. Intercepts: ${found.intercepts}.` }));
  const words = (targets) => make("span", {}, targets.length ? targets.flatMap(([variable, mechanism, gain], at) => [at ? "; " : "", link(variable), ` (${mechanism}, gain ${figure(gain)})`]) : ["none"]);
  const worst = (tests) => make("span", {}, tests.length ? tests.flatMap(([variable, p], at) => [at ? "; " : "", link(variable), ` p = ${figure(p)}`]) : ["–"]);
  body.append(tableOf(["environment", ["rows", 1], "targets", "others that fit worst"], found.rows.map((row) => [make("span", { class: "name", text: shown(row.label) }), figure(row.rows), words(row.targets), worst(row.worst)])));
  if (found.rows.length < found.all) body.append(make("p", { class: "hint", text: `The first ${found.rows.length} of ${found.all} are shown.` }));
  const hints = ["“cut”: the target does not depend on its parents there; “shift”: another mean and noise; “own slopes”: its parents act with other strengths as well. The gain is by how much the BIC would be worse if the variable were no target."];
  hints.push(found.tested ? "Every other variable is compared with itself elsewhere, given its parents, by a likelihood ratio. Small p-values speak of targets that are missing, or of a model that does not fit; with many rows the smallest deviation has one." : "With so many variables and environments, or without their moments, it is not tested whether the others stay as they are.");
  body.append(make("p", { class: "hint", text: hints.join(" ") }));
}
