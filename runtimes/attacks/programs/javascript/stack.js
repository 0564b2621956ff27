export default function () {
  return eval('('.repeat(3e6) + '1' + ')'.repeat(3e6)); // the interpreter's parser is recursive
}
