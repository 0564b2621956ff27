def main(city: str, days: int = 3, units: str = "metric", ctx=None) -> dict:
    """Forecasts the weather.

    Args:
        city (str): Name of the city, such as
            Oslo.
        days (int, optional): Number of days.
        units: metric or imperial.

    Returns:
        The forecast.
    """
    return {}
# valid {"city": "Oslo"}
# invalid {"days": 1}
