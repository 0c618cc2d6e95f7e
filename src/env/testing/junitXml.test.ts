import { describe, expect, it } from 'vitest';
import { parseJUnitXml } from './junitXml.js';

const suite = (inside: string) => `<testsuites><testsuite name="s">${inside}</testsuite></testsuites>`;
const statuses = (text: string) => parseJUnitXml(text)?.map(({ name, status }) => `${status} ${name}`);

describe('a JUnit XML document', () => {
  it('gives statuses, reasons and the suites around each test', () => {
    const text = `<?xml version="1.0"?>
<testsuites name="all">
  <testsuite name="outer" file="a.js">
    <testsuite name="inner">
      <testcase name="works" classname="c"/>
      <testcase name="does not" classname="c" file="b.js"><failure type="T" message="m">stack</failure></testcase>
    </testsuite>
    <testcase name="later"><skipped message="not yet"/></testcase>
    <testcase name="breaks"><error>no</error></testcase>
  </testsuite>
</testsuites>`;
    const inner = { suites: ['outer', 'inner'], className: 'c', flaky: false };
    const outer = { suites: ['outer'], className: '', flaky: false };
    expect(parseJUnitXml(text)).toEqual([
      { ...inner, name: 'works', file: 'a.js', status: 'passed', reason: null },
      {
        ...inner,
        name: 'does not',
        file: 'b.js',
        status: 'failed',
        reason: { kind: 'failure', type: 'T', message: 'm', text: 'stack' },
      },
      {
        ...outer,
        name: 'later',
        file: 'a.js',
        status: 'skipped',
        reason: { kind: 'skipped', type: '', message: 'not yet', text: '' },
      },
      {
        ...outer,
        name: 'breaks',
        file: 'a.js',
        status: 'failed',
        reason: { kind: 'error', type: '', message: '', text: 'no' },
      },
    ]);
  });

  it('decodes references, and leaves what stands in CDATA as it is', () => {
    const inside = `<testcase name="&lt;&#x1F600;&#10;&quot;&amp;lt;"><failure>a &amp; b<![CDATA[<c>&amp;]]]]><![CDATA[>]]></failure></testcase>`;
    expect(parseJUnitXml(suite(inside))?.[0]).toMatchObject({
      name: '<😀\n"&lt;',
      reason: { text: 'a & b<c>&amp;]]>' },
    });
  });

  it('counts a test that passed in a repeated run as passed and flaky, and one that never did as failed', () => {
    const flaky = '<testcase name="a"><flakyFailure message="m"/><flakyError/></testcase>';
    const failed = '<testcase name="b"><failure message="m"/><rerunFailure message="m"/></testcase>';
    const found = parseJUnitXml(suite(flaky + failed));
    expect(found?.map((test) => [test.status, test.flaky])).toEqual([
      ['passed', true],
      ['failed', false],
    ]);
  });

  it('reads a status that is only a word', () => {
    const of = (attributes: string) => statuses(suite(`<testcase name="a" ${attributes}/>`))?.[0];
    expect(of('status="run"')).toBe('passed a');
    expect(of('status="fail"')).toBe('failed a');
    expect(of('status="notrun"')).toBe('skipped a');
    expect(of('status="run" result="suppressed"')).toBe('skipped a');
  });

  it('never hides a failure that has no test', () => {
    expect(statuses(suite('<testcase name="a"/><error message="teardown"/>'))).toEqual(['passed a', 'failed ']);
    expect(statuses('<testsuite errors="1"><testcase name="a"/></testsuite>')).toEqual(['passed a', 'failed ']);
    expect(statuses('<testsuites failures="1"><testsuite><testcase name="a"/></testsuite></testsuites>')).toEqual([
      'passed a',
      'failed ',
    ]);
  });

  it.each([
    ['nothing', ''],
    ['a document that is cut off', '<testsuites><testsuite name="s"><testcase name="a"/>'],
    ['a tag closed by another', '<testsuites><testsuite><testcase name="a"/></testsuites></testsuite>'],
    ['two roots', '<testsuites/><testsuites/>'],
    ['another document', '<html></html>'],
    ['a document type', '<?xml version="1.0"?><!-- x --><!DOCTYPE a [<!ENTITY b "c">]><testsuites/>'],
    ['suites in suites without end', '<testsuite>'.repeat(5000) + '</testsuite>'.repeat(5000)],
  ])('is not taken from %s', (_, text) => {
    expect(parseJUnitXml(text)).toBeNull();
  });

  it('is read where the output of a test looks like results or is long', () => {
    const forged = '<![CDATA[</system-out><testcase name="forged"/><!DOCTYPE a><system-out>]]>';
    const long = '<![CDATA[' + '<line> &amp;\n'.repeat(1_000_000) + ']]>';
    for (const output of [forged, long]) {
      expect(statuses(suite(`<testcase name="a"/><system-out>${output}</system-out>`))).toEqual(['passed a']);
      expect(statuses(suite(`<testcase name="a"><system-err>${output}</system-err></testcase>`))).toEqual(['passed a']);
    }
  });

  it('keeps names that JavaScript gives a meaning', () => {
    expect(
      statuses('<testsuites><testsuite name="__proto__"><testcase name="constructor"/></testsuite></testsuites>'),
    ).toEqual(['passed constructor']);
  });
});
