enum Color { Red = "red", Blue = "blue" }
enum Level { Low, High = 5 }
export default (input: { color: Color; level: Level; one: Color.Red; names: keyof typeof Color }): Level => input.level;
// valid {"color": "red", "level": 5, "one": "red", "names": "Blue"}
// invalid {"color": "green", "level": 5, "one": "red", "names": "Blue"}
// invalid {"color": "red", "level": 1, "one": "red", "names": "Blue"}
