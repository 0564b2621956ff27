interface User {
  id: number;
  name: string;
  mail?: string;
}
export default function main(input: { some: Partial<User>; all: Required<User>; few: Pick<User, "id">; less: Omit<User, "mail">; fixed: Readonly<User>; set: NonNullable<string | null> }): Pick<User, "id" | "mail"> {
  return { id: 1 };
}
// valid {"some": {}, "all": {"id": 1, "name": "a", "mail": "b"}, "few": {"id": 1}, "less": {"id": 1, "name": "a"}, "fixed": {"id": 1, "name": "a"}, "set": "x"}
// invalid {"some": {"id": "1"}, "all": {"id": 1, "name": "a", "mail": "b"}, "few": {"id": 1}, "less": {"id": 1, "name": "a"}, "fixed": {"id": 1, "name": "a"}, "set": "x"}
// invalid {"some": {}, "all": {"id": 1, "name": "a"}, "few": {"id": 1}, "less": {"id": 1, "name": "a"}, "fixed": {"id": 1, "name": "a"}, "set": "x"}
