import * as vscode from 'vscode';
import { choiceOf, valuesOfFacets, type Choice, type Facet, type FacetValue } from './facets.js';

/** Lets the user choose what a list shows; undefined where they left without an answer. */
export async function pickFacets<Thing>(
  title: string,
  facets: readonly Facet<Thing>[],
  things: readonly Thing[],
  choice: Choice,
): Promise<Choice | undefined> {
  type Item = vscode.QuickPickItem & { readonly facetValue?: FacetValue };
  const items: Item[] = [];
  let facet: string | undefined;
  for (const facetValue of valuesOfFacets(facets, things, choice)) {
    if (facetValue.facet !== facet) {
      facet = facetValue.facet;
      items.push({ label: facet, kind: vscode.QuickPickItemKind.Separator });
    }
    items.push({
      label: facetValue.value,
      description: `${facet} · ${facetValue.count}`,
      picked: choice.get(facet)?.has(facetValue.value) ?? false,
      facetValue,
    });
  }
  const picked = await vscode.window.showQuickPick(items, {
    title,
    canPickMany: true,
    matchOnDescription: true,
    placeHolder: 'Choose what to show; nothing chosen shows everything',
  });
  return picked && choiceOf(picked.flatMap(({ facetValue }) => (facetValue ? [facetValue] : [])));
}
