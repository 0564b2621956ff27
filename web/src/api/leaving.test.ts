import { expect, it } from 'vitest';
import { draftArrived, draftLeft } from './leaving';

it('holds who comes back until the edits have arrived, also when they do not', async () => {
  const order: string[] = [];
  let end = (): void => undefined;
  draftLeft(['weather', 'id'], new Promise<void>((resolve) => (end = resolve)));
  const back = Promise.all(['weather', 'id'].map((name) => draftArrived(name))).then(() => order.push('read'));
  await draftArrived('another');
  order.push('another');
  end();
  await back;
  expect(order).toEqual(['another', 'read']);

  draftLeft(['weather'], Promise.reject(new Error('away')));
  await draftArrived('weather');
});

it('waits for the last of two visits', async () => {
  let end = (): void => undefined;
  draftLeft(['weather'], Promise.resolve());
  draftLeft(['weather'], new Promise<void>((resolve) => (end = resolve)));
  let read = false;
  const back = draftArrived('weather').then(() => (read = true));
  await draftArrived('another');
  expect(read).toBe(false);
  end();
  await back;
});
