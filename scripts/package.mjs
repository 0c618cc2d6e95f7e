// Makes a .vsix for one platform: `npm run package -- [--target linux-x64]`. onnxruntime-node and tree-sitter carry
// the binaries of every platform; only those of the target go in.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { values } = parseArgs({ options: { target: { type: 'string', default: 'linux-x64' } } });
const target = values.target;
const targets = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64'];
if (!targets.includes(target)) {
  console.error(`Unknown target ${target}: choose one of ${targets.join(', ')}.`);
  process.exit(2);
}
const [platform, arch] = target.split('-');

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

run(process.execPath, ['esbuild.mjs', '--minify'], root);

const staging = join(root, 'out/package');
rmSync(staging, { recursive: true, force: true });
mkdirSync(staging, { recursive: true });
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { native } = await import('../esbuild.mjs');

const texts = ['l10n', 'package.nls.json', 'package.nls.zh-cn.json'];
for (const entry of ['dist', 'media', 'LICENSE', 'README.md', ...texts, 'test-fixtures/embedded-repo']) {
  if (existsSync(join(root, entry))) cpSync(join(root, entry), join(staging, entry), { recursive: true });
}

/**
 * The packages that stay outside of the bundles, with all that they need. They lie beside the bundles, in
 * `dist/node_modules`: the packager asks npm about a `node_modules` at the top, which would want the install scripts' packages.
 */
const wanted = new Set();
const visit = (name) => {
  const folder = join(root, 'node_modules', name);
  if (wanted.has(name) || !existsSync(folder)) return;
  wanted.add(name);
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  Object.keys(dependencies).forEach(visit);
};
native.forEach(visit);
// Only its install script needs these.
for (const name of ['adm-zip', 'global-agent', 'node-addon-api']) wanted.delete(name);

const foreign = (path) => {
  const parts = path.split(/[\\/]/);
  const prebuild = parts.indexOf('prebuilds');
  if (prebuild >= 0 && parts[prebuild + 1]) return parts[prebuild + 1] !== target;
  const runtime = parts.findIndex((part) => /^napi-v\d+$/.test(part));
  if (runtime >= 0 && parts[runtime + 1]) {
    return parts[runtime + 1] !== platform || (parts[runtime + 2] !== undefined && parts[runtime + 2] !== arch);
  }
  // Sources of native code and of grammars are not needed where there is a prebuilt binary.
  return (
    (/[\\/](src|vendor|deps|script|binding\.gyp)$/.test(path) && /node_modules[\\/]tree-sitter/.test(path)) ||
    /\.(c|cc|h|wasm|d\.ts|map)$/.test(path)
  );
};
for (const name of wanted) {
  const from = join(root, 'node_modules', name);
  cpSync(from, join(staging, 'dist/node_modules', name), {
    recursive: true,
    filter: (source) => !foreign(source.slice(root.length)),
  });
}

const development = ['scripts', 'dependencies', 'devDependencies', 'overrides', 'files', 'private'];
const shipped = Object.fromEntries(Object.entries(manifest).filter(([key]) => !development.includes(key)));
writeFileSync(join(staging, 'package.json'), JSON.stringify(shipped, null, 2));
writeFileSync(join(staging, '.vscodeignore'), 'dist/**/*.map\n');

const output = join(root, `whetstone-${manifest.version}-${target}.vsix`);
run(
  process.execPath,
  [
    join(root, 'node_modules/@vscode/vsce/vsce'),
    'package',
    '--target',
    target,
    '--out',
    output,
    '--no-dependencies',
    '--skip-license',
    '--allow-missing-repository',
  ],
  staging,
);
console.log(
  `${output}: ${(statSync(output).size / 1e6).toFixed(1)} MB, ${readdirSync(join(staging, 'dist/node_modules')).length} packages beside the bundles`,
);
