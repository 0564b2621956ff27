import { expect, test } from 'vitest';
import { Connection } from './connection';

function pair(handlers: Record<string, (params: unknown) => unknown> = {}) {
  const sent: object[] = [];
  return { sent, connection: new Connection((message) => sent.push(message), handlers) };
}

test('an answer meets its question', async () => {
  const { sent, connection } = pair();
  const first = connection.request('a', {});
  const second = connection.request('b', {});
  connection.receive({ id: 2, result: 'two' });
  connection.receive({ id: 1, result: 'one' });
  expect([await first, await second]).toEqual(['one', 'two']);
  expect(sent).toMatchObject([
    { id: 1, method: 'a' },
    { id: 2, method: 'b' },
  ]);
});

test('a fault of the server is an error, what was cancelled is nothing', async () => {
  const { connection } = pair();
  const wrong = connection.request('a', {});
  connection.receive({ id: 1, error: { code: -32603, message: 'broken' } });
  await expect(wrong).rejects.toThrow('broken');
  const late = connection.request('a', {});
  connection.receive({ id: 2, error: { code: -32800, message: 'cancelled' } });
  expect(await late).toBeUndefined();
});

test('a cancelled request is reported to the server', () => {
  const { sent, connection } = pair();
  let stop = (): void => undefined;
  void connection.request(
    'a',
    {},
    {
      isCancellationRequested: false,
      onCancellationRequested: (listener) => {
        stop = listener;
        return { dispose: () => undefined };
      },
    },
  );
  stop();
  expect(sent.at(-1)).toMatchObject({ method: '$/cancelRequest', params: { id: 1 } });
});

test('every server request gets an answer, also for unknown methods', () => {
  const { sent, connection } = pair({ ask: (params) => [params] });
  connection.receive({ id: 'x', method: 'ask', params: 7 });
  connection.receive({ id: 'y', method: 'other' });
  connection.receive({ method: 'told' });
  expect(sent).toMatchObject([
    { id: 'x', result: [7] },
    { id: 'y', result: null },
  ]);
});

test('pending requests resolve when the connection ends', async () => {
  const { connection } = pair();
  const asked = connection.request('a', {});
  connection.close();
  expect(await asked).toBeUndefined();
});
