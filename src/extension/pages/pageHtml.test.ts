import { describe, expect, it } from 'vitest';
import { pageHtml } from './pageHtml.js';

describe('the document of a webview', () => {
  const parts = {
    title: 'T',
    language: 'zh-cn',
    script: 'https://host/page.js',
    style: 'https://host/page.css',
    source: 'https://host',
  };

  it('allows its own script and style and nothing else', () => {
    const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(pageHtml(parts)) ?? [];
    expect(policy).toBe(`default-src 'none'; script-src https://host; style-src https://host`);
    expect(pageHtml(parts)).not.toMatch(/unsafe|<script>|<style|style=/);
  });

  it('holds a hostile title as text', () => {
    const html = pageHtml({ ...parts, title: '</title><script>alert(1)</script>' });
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html.match(/<\/title>/g)).toHaveLength(1);
  });
});
