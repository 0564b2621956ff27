export default async function ({ granted, other }) {
  try {
    console.log('granted\t' + (await (await fetch('http://' + granted + '/')).text()));
  } catch (error) {
    console.log('granted\tfailed\t' + error.message);
  }
  try {
    await fetch('http://' + other + '/');
    console.log('beyond\tfetch');
  } catch {}
}
