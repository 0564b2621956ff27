// Contains all texts of the Studio in English. A screen imports only the file with its own texts. This object contains
// all texts. A translation is another object of the same type.
import * as access from './access';
import * as agents from './agents';
import * as api from './api';
import * as app from './app';
import * as approvals from './approvals';
import * as archives from './archives';
import * as assist from './assist';
import { common } from './common';
import * as compare from './compare';
import * as components from './components';
import * as config from './config';
import * as connect from './connect';
import * as console from './console';
import * as editor from './editor';
import * as files from './files';
import * as form from './form';
import * as gate from './gate';
import * as guarded from './guarded';
import * as packages from './packages';
import * as projects from './projects';
import * as tasks from './tasks';
import * as provenance from './provenance';
import * as publish from './publish';
import * as reference from './reference';
import * as registry from './registry';
import * as run from './run';
import * as runs from './runs';
import * as samples from './samples';
import * as schemas from './schemas';
import * as secrets from './secrets';
import * as server from './server';
import * as settings from './settings';
import * as skills from './skills';
import * as tool from './tool';
import * as toolSets from './toolSets';
import * as ui from './ui';
import * as usage from './usage';
import * as versions from './versions';
import * as workspaces from './workspaces';

export const texts = {
  access,
  agents,
  api,
  app,
  approvals,
  archives,
  assist,
  common,
  compare,
  components,
  config,
  connect,
  console,
  editor,
  files,
  form,
  gate,
  guarded,
  packages,
  projects,
  tasks,
  provenance,
  publish,
  reference,
  registry,
  run,
  runs,
  samples,
  schemas,
  secrets,
  server,
  settings,
  skills,
  tool,
  toolSets,
  ui,
  usage,
  versions,
  workspaces,
};

export type Texts = typeof texts;
