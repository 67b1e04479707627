// Dark or light: as the system has it until the user turns it round.

import { useCallback, useEffect, useState } from "./vendor/htm-preact.js";

const KEY = "ufkit-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function kept() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // storage is switched off
  }
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
  const theme = chosen === "dark" || chosen === "light" ? chosen : dark ? "dark" : "light";
  document.documentElement.dataset.theme = theme;
  const turn = useCallback(() => {
    const next = theme === "dark" ? "light" : "dark";
    choose(next);
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // it holds until the page is left
    }
  }, [theme]);
  return [theme, turn];
}
