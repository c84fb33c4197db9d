// What the page needs of three.js, bundled once into three.min.js:
//   npm install three@0.187 esbuild
//   npx esbuild three.entry.js --bundle --minify --format=iife --global-name=THREE --outfile=three.min.js
export {
  AmbientLight, BufferGeometry, CapsuleGeometry, Color, CylinderGeometry, DirectionalLight,
  Float32BufferAttribute, GridHelper, Group, Line, LineBasicMaterial, Mesh, MeshStandardMaterial,
  PerspectiveCamera, Quaternion, REVISION, Scene, SphereGeometry, Vector3, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/addons/controls/OrbitControls.js";
