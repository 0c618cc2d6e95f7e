import { describe, expect, it } from 'vitest';
import { installationFolders } from './toolchain.js';

describe('what is shown of a home folder', () => {
  const homes = ['/home', '/home/ada', '/tmp'];
  const inAda = (folder: string) => installationFolders(`/home/ada/${folder}`, ['/home/ada', '/home']);

  it('is a version manager as a whole', () => {
    expect(inAda('.pyenv/versions/3.12/bin')).toEqual(['/home/ada/.pyenv']);
    expect(inAda('.nvm/versions/node/v20/bin')).toEqual(['/home/ada/.nvm']);
  });

  it("is an installation around its programs' folder", () => {
    expect(inAda('node-v20/bin')).toEqual(['/home/ada/node-v20']);
    expect(inAda('.local/share/uv/python/cpython-3.12/bin')).toEqual(['/home/ada/.local/share/uv/python/cpython-3.12']);
    expect(installationFolders('/tmp/node/bin', homes)).toEqual(['/tmp/node']);
  });

  it('is the folder alone where what lies around may be private', () => {
    expect(inAda('bin')).toEqual(['/home/ada/bin']);
    expect(inAda('.local/bin')).toEqual(['/home/ada/.local/bin']);
    expect(inAda('.cargo/bin')).toEqual(['/home/ada/.cargo/bin', '/home/ada/.rustup']);
  });

  it('is nothing of the home itself, of secrets, or of what lies elsewhere', () => {
    for (const folder of ['', '.ssh', '.ssh/bin', '.config/tool/bin', '.aws/bin']) expect(inAda(folder)).toEqual([]);
    expect(installationFolders('/usr/bin', homes)).toEqual([]);
  });
});
