import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import sharp from 'sharp';

const width = 1000;

/** Pictures of a page, one after the other, each with a line that says what happens. */
export class Film {
  private readonly frames: { readonly picture: Buffer; readonly seconds: number }[] = [];

  constructor(private readonly page: Page) {}

  async take(caption: string, seconds = 2.5): Promise<void> {
    await this.page.evaluate((text) => {
      const id = 'demo-caption';
      const line = document.getElementById(id) ?? document.body.appendChild(document.createElement('div'));
      line.id = id;
      line.textContent = text;
      Object.assign(line.style, {
        position: 'fixed',
        left: '50%',
        bottom: '48px',
        transform: 'translateX(-50%)',
        zIndex: '100000',
        padding: '10px 18px',
        borderRadius: '6px',
        background: '#0b5cad',
        color: '#ffffff',
        font: '20px sans-serif',
        pointerEvents: 'none',
      });
    }, caption);
    this.frames.push({ picture: await this.page.screenshot(), seconds });
    await this.page.evaluate(() => document.getElementById('demo-caption')?.remove());
  }

  /** Writes an animated GIF that goes round and round. */
  async write(file: string): Promise<void> {
    const pictures = await Promise.all(
      this.frames.map(({ picture }) => sharp(picture).resize({ width }).png().toBuffer()),
    );
    const delay = this.frames.map(({ seconds }) => Math.round(seconds * 1000));
    writeFileSync(
      file,
      await sharp(pictures, { join: { animated: true } })
        .gif({ delay, loop: 0, colours: 128, effort: 8 })
        .toBuffer(),
    );
  }
}
