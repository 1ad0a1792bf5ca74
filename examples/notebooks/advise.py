"""Which cipher for a sensor, as a notebook: `marimo edit examples/notebooks/advise.py`; `python` runs it through."""

import marimo

app = marimo.App()


@app.cell
def _():
    from wattlock.advise import advise, load

    # A profile that comes with wattlock, a few of its keys changed.
    question = load("sensor", {"flow": [{"message": "32B", "every": "1min"}], "floor.approved": "nist"})
    advice = advise(question, allow_assumed=True)
    return advice, question


@app.cell
def _(advice):
    # A Polars frame: a row a choice, longest life first; one rank holds what can't be told apart.
    ranked = advice.ranked
    first = ranked.select("rank", "choice", "provider", "days", "days_low", "days_high", "air_B").head(10)
    first  # noqa: B018 - the last line of a cell is what it shows
    return first, ranked


@app.cell
def _(ranked):
    from wattlock.report.charts import days

    chart = days(ranked)
    chart  # noqa: B018
    return (chart,)


@app.cell
def _(advice):
    excluded, measure_first = advice.excluded_frame, advice.information_frame.head(1)
    (excluded, measure_first)  # noqa: B018
    return excluded, measure_first


if __name__ == "__main__":
    app.run()
