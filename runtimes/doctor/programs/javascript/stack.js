export default function () {
  return eval('('.repeat(3e6) + '1' + ')'.repeat(3e6)); // the parser of the interpreter calls itself
}
