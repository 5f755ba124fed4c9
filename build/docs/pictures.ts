import { imagesOf, targetOf } from './markdown.ts';

/** Pictures are SVG files of docs/: text, readable in the light and in the dark, and as sharp as the screen. */
const isPicture = (file: string): boolean => /^docs\/[\w./-]+\.svg$/.test(file);

/** Where a picture lies in the site. */
export function pictureAddress(file: string): string {
  return `pictures/${file.replace(/^docs\//, '')}`;
}

/** The files of this repository that the pages show. @throws Error for a picture from elsewhere, of another kind, or without words */
export function picturesOf(pages: ReadonlyMap<string, string>): Set<string> {
  const files = [...pages].flatMap(([page, text]) =>
    imagesOf(text).map(({ href, alt }) => {
      const target = targetOf(page, href);
      if (target.is === 'elsewhere' || !isPicture(target.file)) {
        throw new Error(`${page}: ${href} must be an SVG file of docs/`);
      }
      if (alt.trim() === '') throw new Error(`${page}: ${href} must say in words what it shows: ![…](${href})`);
      return target.file;
    }),
  );
  return new Set(files);
}

/** @throws Error for a picture that doesn't say its size, and for one that runs or loads something */
export function sizeOf(svg: string, file: string): { width: number; height: number } {
  const active = /<script|<foreignObject|\son\w+=|(?:href|src)="(?!#)|url\((?!#)|@import/i.exec(svg);
  if (active) throw new Error(`${file}: a picture runs nothing and loads nothing (${active[0].trim()})`);
  const [, width, height] = /^<svg [^>]*viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg) ?? [];
  if (width === undefined || height === undefined) {
    throw new Error(`${file}: its first line must say its size: <svg … viewBox="0 0 760 800">`);
  }
  return { width: Number(width), height: Number(height) };
}
