import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// One build per view: `--mode turn` and `--mode chat`, each a single self-contained ES module.
export default defineConfig(({ mode }) => ({
  plugins: [svelte({ configFile: false, compilerOptions: { css: "external" } })],
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: "../../octo_lab/notebook/static",
    emptyOutDir: mode === "turn",
    target: "es2022",
    minify: true,
    chunkSizeWarningLimit: 700,
    cssCodeSplit: false,
    rolldownOptions: {
      input: `src/${mode}/index.ts`,
      preserveEntrySignatures: "strict",
      checks: { pluginTimings: false },
      output: {
        format: "es",
        entryFileNames: `${mode}.js`,
        assetFileNames: `${mode}[extname]`,
        codeSplitting: false,
      },
    },
  },
  test: { environment: "jsdom", include: ["tests/**/*.test.ts"] },
  resolve: mode === "test" ? { conditions: ["browser"] } : {},
}));
