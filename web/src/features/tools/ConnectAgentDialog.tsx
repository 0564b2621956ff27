import { useVersions } from '../../api/queries';
import { closeDialog } from '../../state/dialogs';
import { connectDialog as say } from '../../texts/connect';
import { Dialog } from '../../ui/Dialog';
import { useOpenAgent } from '../../agent/openAgent';
import { ConnectDialog } from './ConnectDialog';

/** Shows how to connect a client to the open agent. */
export function ConnectAgentDialog() {
  const { id, name, latestVersion, version } = useOpenAgent();
  const found = useVersions(name);
  if (latestVersion === '' && found.data?.length === 0) {
    return (
      <Dialog title={say.connect} onClose={closeDialog}>
        <p>{say.noVersion(name)}</p>
      </Dialog>
    );
  }
  const versions = (found.data ?? []).map((one) => one.version);
  return (
    <ConnectDialog
      kind="agent"
      name={name}
      versions={version === undefined ? versions : [...new Set([version, ...versions])]}
      {...(version === undefined ? {} : { version })}
      agents={[{ id, name }]}
      onClose={closeDialog}
    />
  );
}
