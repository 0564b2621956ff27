// Registers Python with Monaco once, and forwards requests to the open services.
import { registerProviders } from './providers';
import { PythonService, type PythonProject } from './service';

const services = new Set<PythonService>();
let registered = false;

export async function openPython(project: PythonProject, broken: () => void): Promise<PythonService> {
  if (!registered) registerProviders((model) => [...services].find((service) => service.has(model)));
  registered = true;
  const service = await PythonService.start(project, broken);
  services.add(service);
  service.onDispose(() => services.delete(service));
  return service;
}
