export default function (input) {
  console.log('hello ' + input.name);
  return { greeting: 'Hello, ' + input.name };
}
