/** An order. */
interface Order {
  /**
   * How many.
   * @minimum 1
   * @maximum 10
   * @integer
   * @default 1
   */
  count: number;
  /**
   * Mail address.
   * @format email
   * @example "a@b.no"
   */
  mail: string;
  /**
   * @minLength 2
   * @pattern ^[A-Z]+$
   * @deprecated Use mail.
   */
  code?: string;
  /**
   * @minItems 1
   * @uniqueItems
   */
  tags: string[];
}
export default function main(input: Order): void {}
// valid {"count": 1, "mail": "a@b.no", "tags": ["a"]}
// valid {"count": 10, "mail": "a@b.no", "code": "AB", "tags": ["a", "b"]}
// invalid {"count": 0, "mail": "a@b.no", "tags": ["a"]}
// invalid {"count": 1.5, "mail": "a@b.no", "tags": ["a"]}
// invalid {"count": 1, "mail": "a", "tags": ["a"]}
// invalid {"count": 1, "mail": "a@b.no", "code": "A", "tags": ["a"]}
// invalid {"count": 1, "mail": "a@b.no", "tags": ["a", "a"]}
