def main(values, weights=None, *, axis: int = 0) -> list[float]:
    """Average.

    Parameters
    ----------
    values, weights : list of float
        The values
        and their weights.
    axis : int, optional
        The axis.

    Returns
    -------
    list of float
        The averages.
    """
    return []
# valid {"values": [1]}
# invalid {"values": [1], "axis": "x"}
