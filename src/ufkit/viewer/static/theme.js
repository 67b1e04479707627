// Dark or light: as the system has it until the user turns it round. What was chosen is kept in a
// cookie, which all ports of this machine share: the next viewer has another one.

import { useCallback, useEffect, useState } from "./vendor/htm-preact.js";

const KEY = "ufkit-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function kept() {
  return document.cookie.match(new RegExp(`(?:^|; )${KEY}=(dark|light)`))?.[1];
}

function keep(theme) {
  document.cookie = `${KEY}=${theme}; Max-Age=31536000; Path=/; SameSite=Strict`;
}

/** The theme, and a function that turns it round. */
export function useTheme() {
  const [chosen, choose] = useState(kept);
  const [dark, setDark] = useState(system.matches);
  useEffect(() => {
    const update = () => setDark(system.matches);
    system.addEventListener("change", update);
    return () => system.removeEventListener("change", update);
  }, []);
  const theme = chosen ?? (dark ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  const turn = useCallback(() => {
    const next = theme === "dark" ? "light" : "dark";
    choose(next);
    keep(next);
  }, [theme]);
  return [theme, turn];
}
