// How shares are shown: rounded, but never into something that is not true. The same, step by step, as
// kedge/utils/rounding.py, so that the page and the library show the same digits.

const MOST = 16; // digits that rounding can still make sense of
const ALL = 20; // so many that any share is shown as it is

const sameSide = (shown, share, threshold) =>
  threshold === undefined || shown >= threshold === share >= threshold;
const end = (share) => share === 0 || share === 1;

function shown(share, roundings, fair) {
  for (let digits = 3; digits <= MOST; digits++) {
    const scale = Number(`1e${digits}`);
    for (const rounding of roundings) {
      const number = Math.min(Math.max(rounding(share * scale), 0), scale) / scale;
      if (fair(number)) return number.toFixed(digits);
    }
  }
  return share.toFixed(ALL);
}

// Three digits, the nearest that are on the same side of the threshold and neither 0 nor 1 if it is not.
export function rounded(share, threshold) {
  const value = Math.min(Math.max(share, 0), 1);
  const nearest = (x) => Math.floor(x + 0.5);
  const fair = (number) => sameSide(number, value, threshold) && end(number) === end(value);
  return shown(value, [nearest, Math.floor, Math.ceil], fair);
}

// An interval, rounded outwards: it must not read as narrower than it is, nor as over the threshold.
export function between({ low, high }, threshold) {
  const down = [(x) => Math.floor(x + 1e-9), Math.floor]; // a hair inwards first: 0.57 * 1000 < 570
  const up = [(x) => Math.ceil(x - 1e-9), Math.ceil];
  const first = shown(low, down, (number) => sameSide(number, low, threshold));
  const last = shown(high, up, (number) => sameSide(number, high, threshold));
  return `between ${first} and ${last}`;
}
