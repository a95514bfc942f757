"""The messy file of the gallery: how it was simulated, and everything that was done to it."""

import numpy as np

ROWS = 400
SEED = 20240312
TITLE = "Clinic by the lake – export of 12.03.2024"
HEADER = [
    "Patient", "Sex", "Smoker", "Visit", "Ward", "Age", "Exercise", "Weight kg", "Weight lb", "Systolic",
    "Cholesterol", "CRP",
]  # fmt: skip
EDGES = {
    ("Age", "Weight kg"),
    ("Exercise", "Weight kg"),
    ("Age", "Systolic"),
    ("Weight kg", "Systolic"),
    ("Age", "Cholesterol"),
    ("Weight kg", "CRP"),
}
"""The edges of the model behind the numbers."""


def numbers():
    """Return the columns as they were simulated, by name."""
    draw = np.random.default_rng(SEED).normal
    age = draw(52, 11, ROWS)
    exercise = draw(4, 1.5, ROWS)
    weight = 75 - 2.2 * (exercise - 4) + 0.3 * (age - 52) + draw(0, 6, ROWS)
    systolic = 128 + 0.55 * (age - 52) + 0.6 * (weight - 75) + draw(0, 8, ROWS)
    cholesterol = 200 + 1.2 * (age - 52) + draw(0, 18, ROWS)
    crp = 2.6 + 0.09 * (weight - 75) + draw(0, 0.6, ROWS)
    return {
        "Age": age, "Exercise": exercise, "Weight kg": weight.round(1), "Systolic": systolic,
        "Cholesterol": cholesterol, "CRP": crp,
    }  # fmt: skip


def clinic():
    """Return the file: title lines, semicolons, decimal commas, text, dates, gaps, codes, copies, in cp1252."""
    columns = numbers()
    choose = np.random.default_rng(SEED + 1)
    refused = set(choose.choice(ROWS, 9, replace=False).tolist())
    unmeasured = set(choose.choice(ROWS, 5, replace=False).tolist())
    lines = [TITLE, "confidential", ";".join(HEADER)]
    for at in range(ROWS):
        weight = columns["Weight kg"][at]
        crp = columns["CRP"][at]
        cells = [
            f"P{at + 1:04d}",
            "fm"[at * 7 % 5 % 2],
            ["no", "yes"][at * 3 % 7 < 2],
            f"{at % 28 + 1:02d}.{at % 12 + 1:02d}.2023",
            "7",
            comma(columns["Age"][at], 1),
            "-999" if at in refused else comma(columns["Exercise"][at], 1),
            comma(weight, 1),
            comma(weight / 0.45359237, 1),
            "" if at in unmeasured else comma(columns["Systolic"][at], 0),
            comma(columns["Cholesterol"][at], 0),
            "n.d." if crp < 0.5 else comma(crp, 2),
        ]
        lines.append(";".join(cells))
    lines.append("End of export")
    return ("\r\n".join(lines) + "\r\n").encode("cp1252")


def comma(number, digits):
    return f"{number:.{digits}f}".replace(".", ",")
