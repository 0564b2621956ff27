type DeepPartial<T> = { [K in keyof T]?: T[K] extends object ? DeepPartial<T[K]> : T[K] };
interface Settings { window: { width: number; title: string }; theme: "dark" | "light" }
export default function main(input: DeepPartial<Settings>): boolean | null {
  return null;
}
// valid {}
// valid {"window": {"width": 1}, "theme": "dark"}
// invalid {"window": {"width": "1"}}
// invalid {"theme": "blue"}
