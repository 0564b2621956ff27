import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState, type KeyboardEvent } from 'react';
import { serverUrl } from '../../api/base';
import { explain } from '../../api/http';
import { stringifyJson } from '../../api/json';
import { keys, queryClient, refreshAgents, useCapabilities, useVersion, useVersions } from '../../api/queries';
import { exportTool } from '../../api/verbs';
import { download } from '../../state/clipboard';
import { closeDialog } from '../../state/dialogs';
import { exportDialog as say } from '../../texts/tool';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { Dialog } from '../../ui/Dialog';
import { Waiting } from '../../ui/Waiting';
import { NotLoaded } from '../../ui/NotLoaded';
import { Field } from '../../ui/Field';
import { JsonText } from '../../ui/JsonText';
import { useOpenAgent } from '../../agent/openAgent';
import { curlLine, runLine } from '../../agent/callCommands';
import { isStale } from '../../draft/session';
import { exampleInput } from '../../agent/exampleInput';
import { TryTool } from './TryTool';
import { manifestFile, recipesOf, type Recipe } from './recipes';
import css from './ExportDialog.module.css';

const formatNames: Record<string, string> = {
  atelier: 'Atelier',
  openai: 'OpenAI',
  langchain: 'LangChain',
  anthropic: 'Anthropic',
  gemini: 'Gemini',
  mcp: 'MCP',
  openapi: 'OpenAPI',
};

/** Exports a version as a tool in the format of a client. A draft cannot be exported. */
export function ExportDialog({ version: asked }: { version: string | undefined }) {
  const { name, latestVersion } = useOpenAgent();
  const version = asked ?? latestVersion;
  return (
    <Dialog wide title={say.exportAsATool(name)} about={say.exportAsAToolAbout} onClose={closeDialog}>
      {version === '' ? <Unpublished /> : <Exported first={version} />}
    </Dialog>
  );
}

function Unpublished() {
  const { name, session } = useOpenAgent();
  const [state, setState] = useState<{ kind: 'asking' } | { kind: 'busy' } | { kind: 'failed'; message: string }>({
    kind: 'asking',
  });
  const go = async (): Promise<void> => {
    setState({ kind: 'busy' });
    if (session && !(await session.flush())) {
      return setState({ kind: 'failed', message: say.notSaved });
    }
    try {
      const publish = (revision?: number) =>
        exportTool(name, { format: 'atelier', publish: true, ...(revision !== undefined && { revision }) });
      const { manifest } = await (session ? session.withRevision(publish) : publish());
      await queryClient.invalidateQueries({ queryKey: keys.versions(name) });
      void refreshAgents();
      const { version } = manifest;
      session?.published(typeof version === 'string' ? version : '1.0.0');
    } catch (error) {
      if (isStale(error)) return closeDialog();
      setState({ kind: 'failed', message: explain(error) });
    }
  };
  return (
    <>
      <p>{say.noVersion(name)}</p>
      {state.kind === 'failed' && (
        <p role="alert" className={css.error}>
          {state.message}
        </p>
      )}
      <div>
        <Button look="primary" disabled={state.kind === 'busy'} onClick={() => void go()}>
          {say.publishAndExport}
        </Button>
      </div>
    </>
  );
}

function Exported({ first }: { first: string }) {
  const { id, name } = useOpenAgent();
  const capabilities = useCapabilities();
  const versions = useVersions(name);
  const [version, setVersion] = useState(first);
  const [format, setFormat] = useState('openai');
  const formats = capabilities.data?.exportFormats ?? Object.keys(formatNames);
  const all = [...new Set([first, ...(versions.data ?? []).map((v) => v.version)])];
  const manifest = useQuery({
    queryKey: ['manifest', name, version, format],
    queryFn: () => exportTool(name, { version, format }),
    staleTime: Infinity,
  });
  const text = manifest.data && stringifyJson(manifest.data.manifest, 2);
  const notes = manifest.data?.notes ?? [];
  const exported = useVersion(name, version);
  const input = exported.data && exampleInput(id, exported.data.inputSchema);
  const tool = { origin: serverUrl(), name, version };
  const recipes = recipesOf(format, tool);
  return (
    <>
      <div className={css.bar}>
        <Formats formats={formats} format={format} onPick={setFormat} />
        <div className={css.version}>
          <Field label={say.version} hideLabel>
            {(control) => (
              <select {...control} value={version} onChange={(e) => setVersion(e.target.value)}>
                {all.map((v) => (
                  <option key={v} value={v}>
                    {v}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        <span className={css.grow} />
        {text !== undefined && (
          <span className={css.take}>
            <CopyButton label={say.copyTheManifest} wording={say.copy} text={text} />
            <Button
              aria-label={say.downloadTheManifest}
              onClick={() => download(manifestFile(tool, format), `${text}\n`, 'application/json')}
            >
              <Download size={14} aria-hidden />
              {say.download}
            </Button>
          </span>
        )}
      </div>
      <NotLoaded found={manifest} why={say.manifestNotMade} />
      {manifest.isPending && (
        <div className={css.waiting}>
          <Waiting shape="text" what={say.theManifest} retry />
        </div>
      )}
      {text !== undefined && (
        <pre className={css.manifest} tabIndex={0} role="region" aria-label={say.manifest}>
          <JsonText text={text} />
        </pre>
      )}
      {notes.length > 0 && (
        <details className={css.notes}>
          <summary>{say.notes(notes.length)}</summary>
          <ul aria-label={say.notesOnThisFormat}>
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </details>
      )}
      {input !== undefined && <TryTool key={version} name={name} version={version} example={input} />}
      {recipes.map((recipe) => (
        <UseIt key={recipe.label} recipe={recipe} file={manifestFile(tool, format)} />
      ))}
      {exported.isPending && <Waiting shape="lines" what={say.theLines} retry />}
      <NotLoaded found={exported} why={say.linesNotMade} />
      {input !== undefined && (
        <>
          <CommandLine label={say.callItOverHttp} text={curlLine(serverUrl(), name, version, input)} />
          <CommandLine label={say.callItFromATerminal} text={runLine(name, version, input)} />
        </>
      )}
      <p className={css.hint}>
        {say.everyCallNeedsAToken(<code>$ATELIER_TOKEN</code>, <code>atelier token create</code>)}
      </p>
    </>
  );
}

/** Shows the formats in a row, or in a select list if the row is too narrow. */
function Formats({ formats, format, onPick }: { formats: string[]; format: string; onPick: (f: string) => void }) {
  const key = (e: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (by === undefined) return;
    const next = formats[(formats.indexOf(format) + by + formats.length) % formats.length];
    if (next === undefined) return;
    onPick(next);
    e.currentTarget.querySelector<HTMLElement>(`[data-format="${next}"]`)?.focus();
  };
  return (
    <>
      <div className={css.formats} role="tablist" aria-label={say.format} onKeyDown={key}>
        {formats.map((f) => (
          <button
            key={f}
            type="button"
            role="tab"
            data-format={f}
            aria-selected={f === format}
            tabIndex={f === format ? 0 : -1}
            onClick={() => onPick(f)}
          >
            {formatNames[f] ?? f}
          </button>
        ))}
      </div>
      <div className={css.format}>
        <Field label={say.format} hideLabel>
          {(control) => (
            <select {...control} value={format} onChange={(e) => onPick(e.target.value)}>
              {formats.map((f) => (
                <option key={f} value={f}>
                  {formatNames[f] ?? f}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
    </>
  );
}

/** Shows code that uses this format. It is folded because it is long. */
function UseIt({ recipe, file }: { recipe: Recipe; file: string }) {
  return (
    <details className={css.use}>
      <summary>{recipe.label}</summary>
      <p className={css.hint}>
        {recipe.file === undefined
          ? say.downloadOne(<code>{file}</code>)
          : say.downloadBoth(<code>{file}</code>, <code>{recipe.file}</code>)}
        {recipe.text.includes('MODEL') && <> {say.nameAModel(<code>MODEL</code>)}</>}
      </p>
      <CommandLine label={say.howToUseIt} text={recipe.text} />
    </details>
  );
}

function CommandLine({ label, text }: { label: string; text: string }) {
  return (
    <div className={css.line}>
      <h3>{label}</h3>
      <CopyButton label={say.copyLine(label)} text={text} />
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
    </div>
  );
}
