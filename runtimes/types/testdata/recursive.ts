interface Folder {
  name: string;
  folders: Folder[];
  parent?: Folder;
}
export default function main(input: Folder): Folder {
  return input;
}
// valid {"name": "/", "folders": [{"name": "a", "folders": []}]}
// invalid {"name": "/", "folders": [{"name": 1, "folders": []}]}
// invalid {"name": "/"}
