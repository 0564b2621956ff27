// A forecast from a small table: no network, and the same answer every time.

/** Degrees Celsius and millimetres of rain for each of the next seven days. */
const forecasts: Record<Input["city"], [celsius: number, rainMm: number][]> = {
  Bergen: [[9, 14.2], [8, 21.5], [8, 17.8], [10, 3.1], [11, 0.4], [9, 9.6], [7, 12.3]],
  Berlin: [[14, 0], [16, 0], [17, 1.2], [13, 6.4], [12, 2.8], [15, 0], [18, 0]],
  Lisbon: [[21, 0], [22, 0], [24, 0], [23, 0], [22, 0.2], [20, 4.1], [21, 0]],
  Nairobi: [[25, 0], [26, 0], [24, 8.9], [23, 11.4], [25, 2], [26, 0], [27, 0]],
  Oslo: [[6, 0], [4, 2.6], [3, 5.1], [5, 0.8], [8, 0], [9, 0], [7, 1.4]],
  Tokyo: [[18, 0], [19, 0], [17, 12.7], [16, 30.2], [20, 0.3], [22, 0], [21, 0]],
};

const colours = { clear: 33, cloudy: 37, rain: 36 };

type Day = Output["days"][number];

export default async function main(input: Input, ctx: Ctx): Promise<Output> {
  const imperial = input.units === "imperial";
  const unit = imperial ? "°F" : "°C";
  const count = input.days ?? 3;
  ctx.log("info", "forecast requested", { city: input.city, days: count });
  console.log(`Forecast for ${input.city}, ${count} day${count === 1 ? "" : "s"}`);

  const days: Day[] = [];
  for (const [index, [celsius, rainMm]] of forecasts[input.city].slice(0, count).entries()) {
    await pause(150); // so that you see the lines arrive while the program runs
    const day: Day = {
      day: index + 1,
      temperature: imperial ? Math.round(celsius * 1.8 + 32) : celsius,
      rainMm,
      sky: skyOf(rainMm),
    };
    days.push(day);
    console.log(`  day ${day.day}  ${paint(day.sky)}  ${day.temperature} ${unit}  ${rainMm} mm`);
  }

  const warmest = days.reduce((best, day) => (day.temperature > best.temperature ? day : best));
  const wet = days.filter((day) => day.sky === "rain").length;
  return { city: input.city, unit, days, warmest: warmest.day, advice: adviceFor(wet, days.length) };
}

function skyOf(rainMm: number): Day["sky"] {
  if (rainMm >= 2) return "rain";
  return rainMm > 0 ? "cloudy" : "clear";
}

function adviceFor(wet: number, total: number): string {
  if (wet === 0) return "Leave the umbrella at home.";
  return `Take an umbrella: rain on ${wet} of ${total} days.`;
}

function paint(sky: Day["sky"]): string {
  return `\x1b[${colours[sky]}m${sky.padEnd(6)}\x1b[0m`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
