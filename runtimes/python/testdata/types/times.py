import datetime as dt


def main(at: dt.datetime, day: dt.date, clock: dt.time, length: dt.timedelta) -> list[dt.datetime | dt.timedelta]:
    assert isinstance(at, dt.datetime) and isinstance(day, dt.date) and isinstance(clock, dt.time)
    return [at + length, length]
# valid {"at": "2026-01-02T03:04:05Z", "day": "2026-01-02", "clock": "03:04:05Z", "length": "PT1H30M"}
# valid {"at": "2026-01-02T03:04:05.5+02:00", "day": "2024-02-29", "clock": "00:00:00Z", "length": "P1DT0.5S"}
# invalid {"at": "yesterday", "day": "2026-01-02", "clock": "03:04:05Z", "length": "PT1H"}
# invalid {"at": "2026-01-02T03:04:05Z", "day": "2026-02-30", "clock": "03:04:05Z", "length": "PT1H"}
